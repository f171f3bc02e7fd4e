"""Reproduce the tables of Saldías et al. (2022), here on synthetic data."""

from fewgold.reproduce import saldias

# To use the public WMT20 files instead, leave out data= and systems= and set FEWGOLD_DATA to their
# folder. The paper has 100 draws and ten sizes.
made = saldias(
    draws=60,
    budgets=[0.05, 0.10],
    data=["demo-ende"],
    systems={"demo-ende": ["alpha"]},
    incremental=False,
)

# The paper's figures and ours, with one line per method.
table = made.tables["table4"]
columns = ["strategy", "kind", "printed_ratio", "ratio", "ratio_mc"]
print(table.loc[table["data"] != "", columns].round(3).to_string(index=False))

# The paper's findings, and whether they hold on these data.
for finding in made.findings:
    print(f"\n{finding.verdict:14}{finding.sentence}")
    for check in finding.checks:
        print(f"{'':14}{check}: {check.verdict}")

# made.save("out") writes all tables, the figures and a page.
