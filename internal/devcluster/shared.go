package devcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	sharedIdleTimeout = 20 * time.Second
	sharedNodes       = 2
)

// joinShared returns a client of the cluster that the tests of this checkout share, holding a lease on it. The first one
// to come builds the program and starts the cluster; the others wait for that.
func joinShared(ctx context.Context) (*Client, error) {
	root, dir, err := sharedDir()
	if err != nil {
		return nil, err
	}
	lock, err := waitLock(filepath.Join(dir, "start.lock"))
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	binary, err := buildHost(ctx, root, dir)
	if err != nil {
		return nil, err
	}
	current := filepath.Join(dir, "current")
	if client, err := joinCurrent(ctx, current, binary); err == nil {
		return client, nil
	}
	// Delete what clusters left behind whose supervisor was killed.
	found, _ := filepath.Glob(filepath.Join(dir, "cluster-*"))
	for _, data := range found {
		if !isLocked(dataDir(data).path(lockFile)) {
			os.RemoveAll(data)
		}
	}
	data, err := os.MkdirTemp(dir, "cluster-")
	if err != nil {
		return nil, fmt.Errorf("create the data directory of the shared cluster: %w", err)
	}
	client, err := Detach(ctx, Options{
		Name:        "test",
		DataDir:     data,
		Nodes:       sharedNodes,
		Throwaway:   true,
		IdleTimeout: sharedIdleTimeout,
		Executable:  binary,
	})
	if err != nil {
		return nil, err
	}
	if _, err := client.Lease(ctx); err != nil {
		return nil, err
	}
	return client, os.WriteFile(current, []byte(binary+"\n"+data+"\n"), 0o600)
}

// sharedDir is one directory for each checkout and user; root is that of the checkout.
func sharedDir() (root, dir string, err error) {
	if root, err = moduleRoot(); err != nil {
		return "", "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256([]byte(root))
	dir = filepath.Join(cache, "test", hex.EncodeToString(sum[:4]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", fmt.Errorf("create the directory of the shared cluster: %w", err)
	}
	return root, dir, nil
}

// joinCurrent takes a lease on the running cluster, provided that it was started from the same sources.
func joinCurrent(ctx context.Context, current, binary string) (*Client, error) {
	content, err := os.ReadFile(current)
	if err != nil {
		return nil, err
	}
	startedFrom, data, _ := strings.Cut(strings.TrimSpace(string(content)), "\n")
	if startedFrom != binary {
		return nil, errors.New("the running cluster is of older sources")
	}
	client, err := Connect(data)
	if err != nil {
		return nil, err
	}
	_, err = client.Lease(ctx)
	return client, err
}
