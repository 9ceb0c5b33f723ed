#!/usr/bin/env bash
# Builds the container image around the binary that make built. Nothing is
# pulled: the image is made from scratch. Argument: the image's name.
set -euo pipefail
name=$1
if command -v docker >/dev/null 2>&1 && docker info >/dev/null 2>&1; then
  exec docker build -t "$name" -t barnabas:latest -f docker/Dockerfile .
fi
if command -v podman >/dev/null 2>&1; then
  exec podman build -t "$name" -t barnabas:latest -f docker/Dockerfile .
fi
if command -v buildah >/dev/null 2>&1; then
  exec buildah ${BUILDAH_STORAGE:---storage-driver vfs} bud --format docker --isolation chroot -t "$name" -t barnabas:latest -f docker/Dockerfile .
fi
echo "image: none of docker (with a running engine), podman or buildah is here: install one of them" >&2
exit 1
