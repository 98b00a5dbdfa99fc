#!/usr/bin/env python3
"""The net of bench_ranks in PyTorch: torch_ddp.py FOLDER [--processes N] [--threads T] [--steps N]

FOLDER has start.npz, the first values of the variables by the page's names, and cnn-x.npy and cnn-labels.npy, the batch. Every process takes its rows
of it, and DistributedDataParallel joins the gradients by gloo, on the loopback. Prints a line of JSON for each choice of options: the time of a
step, and the losses of the first steps, of the whole batch. One process runs the net as it is.
"""
import argparse
import itertools
import os
import pathlib
import socket
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as functional

from timing import print_case

PEER = "torch-ddp " + torch.__version__
LOSSES = 6  # steps whose losses are told; they are the warm-up, too


class Net(torch.nn.Module):
    """Two convolutions of 5 x 5 with pooling, two dense layers: `pages.cnn`."""

    def __init__(self, start, channels_last):
        super().__init__()
        self.channels_last = channels_last
        self.convolutions = torch.nn.ModuleList([torch.nn.Conv2d(1, 32, 5, padding=2), torch.nn.Conv2d(32, 64, 5, padding=2)])
        self.dense = torch.nn.ModuleList([torch.nn.Linear(3136, 512), torch.nn.Linear(512, 10)])
        with torch.no_grad():
            for i, layer in enumerate(self.convolutions):
                layer.weight = torch.nn.Parameter(self.in_memory(torch.from_numpy(start[f"filter{i}"])))
                layer.bias.copy_(torch.from_numpy(start[f"filter_bias{i}"]))
            for i, layer in enumerate(self.dense):
                layer.weight.copy_(torch.from_numpy(self.in_order(start[f"weights{i}"], i)).T)
                layer.bias.copy_(torch.from_numpy(start[f"bias{i}"]))

    def in_memory(self, filters):
        """With the strides that gradients get: a filter of one channel has either layout to PyTorch, and would keep those of the other."""
        order = filters.permute(3, 0, 1, 2).contiguous().permute(0, 3, 1, 2)
        return order if self.channels_last else order.contiguous()

    def in_order(self, weights, layer):
        """The page's rows are pixels of channels; without channels_last a picture is flattened the other way round."""
        if layer > 0 or self.channels_last:
            return weights
        return np.ascontiguousarray(weights.reshape(49, 64, -1).transpose(1, 0, 2).reshape(3136, -1))

    def forward(self, x):
        for layer in self.convolutions:
            x = functional.max_pool2d(functional.relu(layer(x)), 2)
        x = x.permute(0, 2, 3, 1) if self.channels_last else x
        return self.dense[1](functional.relu(self.dense[0](x.flatten(1))))


class Training:
    """One choice of options, from the start values on."""

    def __init__(self, data, channels_last, static_graph, fused):
        start, x, labels = data
        count = dist.get_world_size() if dist.is_initialized() else 1
        rank = dist.get_rank() if count > 1 else 0
        rows = slice(len(x) // count * rank, len(x) // count * (rank + 1))
        layout = torch.channels_last if channels_last else torch.contiguous_format
        self.count = count
        self.x = torch.from_numpy(x[rows]).permute(0, 3, 1, 2).contiguous(memory_format=layout)
        self.labels = torch.from_numpy(labels[rows].argmax(1))
        self.net = Net(start, channels_last)
        if count > 1:
            self.net = torch.nn.parallel.DistributedDataParallel(self.net, find_unused_parameters=False, gradient_as_bucket_view=True, static_graph=static_graph)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01, fused=fused)

    def step(self):
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(self.net(self.x), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def loss_of_all(self):
        loss = self.step()
        if self.count > 1:
            dist.all_reduce(loss)
        return float(loss) / self.count

    def milliseconds(self, steps):
        """Of a step, in the process that takes longest."""
        if self.count > 1:
            dist.barrier()
        start = time.perf_counter()
        for _ in range(steps):
            self.step()
        took = torch.tensor((time.perf_counter() - start) * 1e3 / steps)
        if self.count > 1:
            dist.all_reduce(took, dist.ReduceOp.MAX)
        return float(took)


def work(rank, port, options):
    torch.set_num_threads(options.threads)
    if options.processes > 1:
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=options.processes)
    with np.load(options.folder / "start.npz") as file:
        data = dict(file), np.load(options.folder / "cnn-x.npy"), np.load(options.folder / "cnn-labels.npy")
    for channels_last, static_graph, fused in itertools.product((False, True), (False, True) if options.processes > 1 else (False,), (False, True)):
        training = Training(data, channels_last, static_graph, fused)
        losses = [training.loss_of_all() for _ in range(LOSSES)]
        took = training.milliseconds(options.steps)
        if rank == 0:
            chosen = {"channels_last": channels_last, "static_graph": static_graph, "fused": fused}
            print_case(peer=PEER, processes=options.processes, threads=options.threads, options=chosen, ms=took, losses=losses)
    if options.processes > 1:
        dist.destroy_process_group()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    os.environ["OMP_NUM_THREADS"] = str(options.threads)  # before a process begins
    if options.processes > 1:
        torch.multiprocessing.spawn(work, (free_port(), options), options.processes)
    else:
        work(0, 0, options)


if __name__ == "__main__":
    main()
