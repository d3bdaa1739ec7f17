package image

import (
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
)

// TestRemove: an image is gone from the store, who has it open reads on, and it can be pulled again.
func TestRemove(t *testing.T) {
	registry := httptest.NewServer(NewRegistry(""))
	t.Cleanup(registry.Close)
	store := must.Value(Open(t.TempDir(), Config{}))(t)
	ref := strings.TrimPrefix(registry.URL, "http://") + "/a/b:v1"
	must.Value(Push(t.Context(), ref, fstest.MapFS{"file": {Data: []byte("content")}}, nil, PushOptions{}))(t)
	img := must.Value(store.Pull(t.Context(), ref, PullOptions{}))(t)
	defer img.Close()
	for range 2 {
		must.NoError(t, store.Remove(img.Digest))
	}
	if data, err := fs.ReadFile(img.FS(), "file"); err != nil || string(data) != "content" {
		t.Errorf("the open image: %q, %v", data, err)
	}
	again := must.Value(store.Pull(t.Context(), ref, PullOptions{}))(t)
	defer again.Close()
	registry.Close()
	must.NoError(t, store.Remove(img.Digest))
	if _, err := store.Pull(t.Context(), img.Pinned, PullOptions{}); err == nil {
		t.Error("the image is still there")
	}
	if err := store.Remove("../../etc"); err == nil {
		t.Error("a digest that is none is accepted")
	}
}
