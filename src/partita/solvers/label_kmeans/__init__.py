"""k-means on label rows, in memory, from a store or on a cluster."""
