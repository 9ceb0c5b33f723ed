// Package image is the cluster as a broker knows it: brokers, topics, partitions
// and settings, as an immutable snapshot.
//
// Readers take a snapshot once and use it for a whole request. A writer takes an
// [Editor] of the newest snapshot, puts and removes whole topics, brokers and
// settings, and publishes what Done gives. Snapshots share all that did not
// change; one more topic costs copying one slice of pointers.
//
// Nothing that hangs on an Image may be changed, slices and maps included.
package image
