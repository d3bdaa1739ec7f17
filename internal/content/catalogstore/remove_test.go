package catalogstore

import (
	"testing"
	"testing/fstest"
)

// TestRemove: the index is gone from disk, who has it open goes on, and a second time is no error.
func TestRemove(t *testing.T) {
	c, err := OpenCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.FS(t.Context(), "sha256:a", fstest.MapFS{"catalog.json": {Data: []byte(`{"schema":"olm.package","name":"a","defaultChannel":"stable"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for range 2 {
		if err := c.Remove("sha256:a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.Get(t.Context(), "sha256:a"); ok {
		t.Error("the index is still there")
	}
	if content, size := x.Content(); size == 0 || content == nil {
		t.Error("the open index cannot be read any more")
	}
}
