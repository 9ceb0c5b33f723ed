package store

import (
	"context"
	"errors"
	"fmt"
)

// The refusals of operations, and the failures of the store.
var (
	ErrNoNode                  = errors.New("no such znode")
	ErrNodeExists              = errors.New("znode exists")
	ErrBadVersion              = errors.New("znode has another version")
	ErrNotEmpty                = errors.New("znode has children")
	ErrNoChildrenForEphemerals = errors.New("an ephemeral znode has no children")
	ErrBadArguments            = errors.New("not a znode path")
	ErrClosed                  = errors.New("the metadata store is closed")
)

// Flag says what kind of znode Create makes.
type Flag uint8

// The kinds of znodes.
const (
	Persistent          Flag = 0
	Ephemeral           Flag = 1 // goes with its session
	Sequential          Flag = 2 // ten digits, counting up, are put behind the path
	EphemeralSequential Flag = Ephemeral | Sequential
)

// Kind is what an operation does.
type Kind uint8

// The operations.
const (
	KindCreate Kind = iota + 1
	KindSet
	KindDelete
	KindCheck
)

// AnyVersion matches every version.
const AnyVersion int32 = -1

// Op is one operation of a transaction. Build it with Create, Set, Delete or
// Check.
type Op struct {
	Kind    Kind
	Path    string
	Data    []byte // not to be changed after the call
	Flag    Flag
	Version int32
}

// Create makes a znode; its parent must be there.
func Create(path string, data []byte, flag Flag) Op {
	return Op{Kind: KindCreate, Path: path, Data: data, Flag: flag}
}

// Set replaces a znode's data if the version is right.
func Set(path string, data []byte, version int32) Op {
	return Op{Kind: KindSet, Path: path, Data: data, Version: version}
}

// Delete removes a znode without children if the version is right.
func Delete(path string, version int32) Op {
	return Op{Kind: KindDelete, Path: path, Version: version}
}

// Check demands that a znode is there and has a version.
func Check(path string, version int32) Op {
	return Op{Kind: KindCheck, Path: path, Version: version}
}

// Result is what an operation answers.
type Result struct {
	Path string // of the node that was made, with its sequence
	Stat Stat   // after Create and Set
}

// OpError is a refused operation; nothing of its transaction was done.
type OpError struct {
	Index int // which operation
	Path  string
	Err   error
}

func (e *OpError) Error() string { return fmt.Sprintf("znode %s: %v", e.Path, e.Err) }

// Unwrap gives the sentinel.
func (e *OpError) Unwrap() error { return e.Err }

// Do does one operation.
func Do(ctx context.Context, s Store, op Op) (Result, error) {
	r, err := s.Multi(ctx, op)
	if err != nil {
		return Result{}, err
	}
	return r[0], nil
}

// Ensure makes persistent znodes without data where they are missing, with
// their parents.
func Ensure(ctx context.Context, s Store, paths ...string) error {
	for _, path := range paths {
		for i := 1; i <= len(path); i++ {
			if i < len(path) && path[i] != '/' {
				continue
			}
			if _, ok, err := s.Exists(ctx, path[:i], nil); err != nil || ok {
				if err != nil {
					return err
				}
				continue
			}
			if _, err := Do(ctx, s, Create(path[:i], nil, Persistent)); err != nil && !errors.Is(err, ErrNodeExists) {
				return err
			}
		}
	}
	return nil
}
