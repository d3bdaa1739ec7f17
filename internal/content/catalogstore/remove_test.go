package catalogstore

import (
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
)

// TestRemove: the index is gone from disk, who has it open goes on, and a second time is no error.
func TestRemove(t *testing.T) {
	c := must.Value(OpenCache(t.TempDir()))(t)
	x := must.Value(c.FS(t.Context(), "sha256:a", fstest.MapFS{"catalog.json": {Data: []byte(`{"schema":"olm.package","name":"a","defaultChannel":"stable"}`)}}))(t)
	defer x.Close()
	for range 2 {
		must.NoError(t, c.Remove("sha256:a"))
	}
	if _, ok := c.Get(t.Context(), "sha256:a"); ok {
		t.Error("the index is still there")
	}
	if content, size := x.Content(); size == 0 || content == nil {
		t.Error("the open index cannot be read any more")
	}
}
