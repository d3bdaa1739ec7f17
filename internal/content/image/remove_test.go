package image

import (
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// TestRemove: an image is gone from the store, who has it open reads on, and it can be pulled again.
func TestRemove(t *testing.T) {
	registry := httptest.NewServer(NewRegistry(""))
	t.Cleanup(registry.Close)
	store, err := Open(t.TempDir(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	ref := strings.TrimPrefix(registry.URL, "http://") + "/a/b:v1"
	if _, err := Push(t.Context(), ref, fstest.MapFS{"file": {Data: []byte("content")}}, nil, PushOptions{}); err != nil {
		t.Fatal(err)
	}
	img, err := store.Pull(t.Context(), ref, PullOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	for range 2 {
		if err := store.Remove(img.Digest); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := fs.ReadFile(img.FS(), "file"); err != nil || string(data) != "content" {
		t.Errorf("the open image: %q, %v", data, err)
	}
	again, err := store.Pull(t.Context(), ref, PullOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	registry.Close()
	if err := store.Remove(img.Digest); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Pull(t.Context(), img.Pinned, PullOptions{}); err == nil {
		t.Error("the image is still there")
	}
	if err := store.Remove("../../etc"); err == nil {
		t.Error("a digest that is none is accepted")
	}
}
