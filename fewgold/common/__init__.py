"""What all parts share: arrays, argument checks, wording, temporary files and statistics."""
