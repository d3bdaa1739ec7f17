package image

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// formats are the two that images and indexes are written in.
var formats = map[string]struct {
	manifest, config, layer, index types.MediaType
}{
	"OCI":            {types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer, types.OCIImageIndex},
	"Docker schema2": {types.DockerManifestSchema2, types.DockerConfigJSON, types.DockerLayer, types.DockerManifestList},
}

// TestFormats pulls images and indexes in each format, with layers in each
// compression whatever their media type says.
func TestFormats(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	for name, f := range formats {
		t.Run(name, func(t *testing.T) {
			image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, f.manifest), f.config)
			image, err := mutate.Config(image, v1.Config{Labels: map[string]string{"l": "v"}})
			must.NoError(t, err)
			for _, layer := range [][]byte{gzipOf(t, tarOf(t, file("a", "1"))), zstdOf(t, tarOf(t, file("b", "2"))), tarOf(t, file("c", "3"))} {
				if image, err = mutate.AppendLayers(image, static.NewLayer(layer, f.layer)); err != nil {
					t.Fatal(err)
				}
			}
			r.push(t, "test/image:v1", image)
			index := mutate.IndexMediaType(mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
				Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}},
			}), f.index)
			must.NoError(t, remote.WriteIndex(r.tag(t, "test/index:v1"), index))
			for _, ref := range []string{"/test/image:v1", "/test/index:v1"} {
				got, files := pullFiles(t, openStore(t, Config{}), r.host+ref, PullOptions{})
				if len(files) != 3 || files["a"]+files["b"]+files["c"] != "123" || got.Labels["l"] != "v" {
					t.Errorf("%s: files %v, labels %v", ref, files, got.Labels)
				}
			}
		})
	}
}

// TestRefusedFormats: what is no image as it is understood here is refused by
// its name.
func TestRefusedFormats(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	tests := map[string]struct{ mediaType, manifest, reason string }{
		"Docker schema1": {
			"application/vnd.docker.distribution.manifest.v1+json",
			`{"schemaVersion":1,"name":"test/image","tag":"v1","fsLayers":[],"history":[]}`, "withdrawn schema version 1",
		},
		"Docker schema1, signed": {
			"application/vnd.docker.distribution.manifest.v1+prettyjws",
			`{"schemaVersion":1,"name":"test/image","tag":"v1","fsLayers":[],"history":[],"signatures":[]}`, "withdrawn schema version 1",
		},
		"an artifact without configuration": {
			string(types.OCIManifestSchema1), `{"schemaVersion":2,"layers":[]}`, "names no configuration",
		},
		"both in one": {
			string(types.OCIManifestSchema1), `{"schemaVersion":2,"config":{},"layers":[],"manifests":[]}`, "neither an image nor an index",
		},
		"a number": {
			string(types.OCIManifestSchema1), `7`, "not JSON",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(tt.manifest)))
			r.fault(onPath("/manifests/", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.mediaType)
				w.Header().Set("Docker-Content-Digest", d)
				w.Header().Set("Content-Length", fmt.Sprint(len(tt.manifest)))
				_, _ = w.Write([]byte(tt.manifest))
			}))
			_, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{})
			if KindOf(err) != InvalidImage || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v, want %s with %q", err, InvalidImage, tt.reason)
			}
		})
	}
}
