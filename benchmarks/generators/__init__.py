"""Compare generators of base partitions by the consensus that methods make of them."""
