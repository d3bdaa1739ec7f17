package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
)

// Store is a content store in a local directory. Any number of processes may
// use the same directory at once, and each may be killed at any moment: what
// is in the store appears by one rename, complete or not at all, and is checked
// when it is read. A Store is safe for concurrent use.
//
// The directory holds:
//
//	blobs/<algorithm>-<hex>   what Put has stored
//	images/<algorithm>-<hex>  packs, by the digest of the manifest or index
//	access/<algorithm>-<hex>  which repositories delivered that image, to whom
//	locks/<algorithm>-<hex>   held by the process that pulls that image
//	tmp/                      what is being written
type Store struct {
	dir    directory
	config Config
}

// directory is where a Store keeps everything.
type directory string

const (
	blobsDir  = "blobs"
	imagesDir = "images"
	locksDir  = "locks"
	tmpDir    = "tmp"
)

// orphanAge is how long a temporary file or a lock must be untouched before it
// is taken for the remains of a process that was killed.
const orphanAge = time.Hour

// Open opens the content store in dir and makes it when it is not there.
func Open(dir string, cfg Config) (*Store, error) {
	s := &Store{dir: directory(dir), config: cfg}
	for _, sub := range []string{blobsDir, imagesDir, accessDir, locksDir, tmpDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("open content store %s: %w", dir, err)
		}
	}
	s.dir.removeOrphans()
	s.dir.removeGrants()
	return s, nil
}

// Put stores data and returns its digest, sha256:<hex>.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	d := digest.FromBytes(data)
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("store %s: %w", d, err)
	}
	if _, err := s.Get(ctx, d.String()); err == nil {
		return d.String(), nil
	}
	// Make the content appear by one rename
	file, err := s.dir.temp()
	if err == nil {
		defer discard(file)
		_, err = file.Write(data)
	}
	if err == nil {
		err = os.Rename(file.Name(), s.dir.path(blobsDir, d))
	}
	if err != nil {
		return "", fmt.Errorf("store %s: %w", d, err)
	}
	return d.String(), nil
}

// Get returns the content that Put has stored, after checking it against its
// digest. The error is fs.ErrNotExist when the store does not hold the content,
// or no longer holds it intact.
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	d := digest.Digest(name)
	if err := checkDigest(d); err != nil {
		return nil, fmt.Errorf("read %q from the content store: %s", name, reasonOf(err))
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read %s from the content store: %w", d, err)
	}
	path := s.dir.path(blobsDir, d)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s from the content store: %w", d, err)
	}
	if d.Algorithm().FromBytes(data) != d {
		_ = os.Remove(path)
		return nil, fmt.Errorf("read %s from the content store: it was damaged and has been removed: %w", d, fs.ErrNotExist)
	}
	touch(path)
	return data, nil
}

// path returns where the content d of a kind is stored.
func (in directory) path(kind string, d digest.Digest) string {
	return filepath.Join(string(in), kind, strings.Replace(d.String(), ":", "-", 1))
}

func (in directory) temp() (*os.File, error) {
	return os.CreateTemp(filepath.Join(string(in), tmpDir), "")
}

// discard closes a temporary file and removes it if it is still there.
func discard(file *os.File) {
	_ = file.Close()
	_ = os.Remove(file.Name())
}

// touch marks content as used now, for the order of collection.
func touch(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

// removeOrphans removes what killed processes have left in tmp, and locks that
// have served. One that is still held may go as well: two pulls of one image
// then read it both, and the later pack replaces an equal one.
func (in directory) removeOrphans() {
	for _, kind := range []string{tmpDir, locksDir} {
		entries, err := os.ReadDir(filepath.Join(string(in), kind))
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > orphanAge {
				_ = os.Remove(filepath.Join(string(in), kind, entry.Name()))
			}
		}
	}
}

// errStore is in the chain of errors of the local store, as against errors of the
// image being read.
var errStore = errors.New("write to the content store")

func storeFailure(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errStore, err)
}
