package devcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// owned bounds how many clusters parallel tests of a package have for themselves: each takes 650 MB, and most of its processor time to start.
var owned = make(chan struct{}, 3)

// Own starts a cluster that a test has for itself: one that takes away what others rely on, such as kinds, must not do so on the shared
// one. It ends with the test. Where several tests have one, it waits for its turn.
func Own(t *testing.T) Status {
	t.Helper()
	owned <- struct{}{}
	t.Cleanup(func() { <-owned })
	ctx, cancel := context.WithTimeout(t.Context(), joinTimeout)
	defer cancel()
	client, data, err := startAlone(ctx, 1)
	if data != "" {
		t.Cleanup(func() { _ = os.RemoveAll(data) })
	}
	if err != nil {
		t.Fatalf("start a cluster for this test alone: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Stop(context.Background()); err != nil {
			t.Errorf("stop the cluster of this test: %v", err)
		}
	})
	status, err := client.Status(ctx)
	if err != nil {
		t.Fatalf("start a cluster for this test alone: %v", err)
	}
	return status
}

// startAlone starts a cluster that only this process knows, and that ends with it, also when it is killed. The data directory is
// returned as soon as there is one.
func startAlone(ctx context.Context, nodes int) (client *Client, data string, err error) {
	root, dir, err := sharedDir()
	if err != nil {
		return nil, "", err
	}
	lock, err := waitLock(filepath.Join(dir, "start.lock")) // the program of the cluster is built once for all
	if err != nil {
		return nil, "", err
	}
	binary, err := buildHost(ctx, root, dir)
	lock.Close()
	if err != nil {
		return nil, "", err
	}
	if data, err = os.MkdirTemp(dir, "own-"); err != nil {
		return nil, "", fmt.Errorf("create the data directory of the cluster: %w", err)
	}
	client, err = Detach(ctx, Options{Name: "own", DataDir: data, Nodes: nodes, Throwaway: true, IdleTimeout: sharedIdleTimeout, Executable: binary})
	if err != nil {
		return nil, data, err
	}
	_, err = client.Lease(ctx)
	return client, data, err
}
