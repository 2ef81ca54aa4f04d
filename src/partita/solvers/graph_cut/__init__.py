"""Balanced cuts of graphs and hypergraphs."""
