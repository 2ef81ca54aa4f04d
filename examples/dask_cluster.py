"""Partitions made, kept and fused on a cluster: here two processes of this machine.

Replace `LocalCluster` by the address of a scheduler to run it on others; their workers must see
the folder.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from partita import SEC
from partita.generators import segment


def main() -> None:
    X, truth = make_blobs(4000, 6, centers=5, cluster_std=2.0, random_state=0)
    with (
        TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=folder
        ) as cluster,
        Client(cluster) as client,
    ):
        features, votes = Path(folder, "features.npy"), Path(folder, "votes.store")
        np.save(features, X)

        # each partition sees half of the rows; the workers write them into one store
        store = segment(
            features, votes, n_partitions=20, ratio=0.5, n_clusters=(5, 10), client=client,
            random_state=0,
        )  # fmt: skip
        print(store)

        # the workers read the store block by block
        model = SEC(n_clusters=5, n_init=3, random_state=0)
        from_store = model.fit_predict(store, client=client)
        print(f"agreement with the planted clusters: {adjusted_rand_score(truth, from_store):.2f}")

        # the same labels as a Dask array, as they might come from a data lake
        codes = store.read(0, len(store)).astype(float)
        codes[codes == store.missing_code] = np.nan
        from_array = model.fit_predict(da.from_array(codes, chunks=(1000, -1)))
        print("the same from a Dask array:", bool((from_array == from_store).all()))


if __name__ == "__main__":
    main()
