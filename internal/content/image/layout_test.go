package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

var layoutFiles = map[string][]byte{"manifests/csv.yaml": []byte("kind: X"), "metadata/annotations.yaml": []byte("a: b")}

// TestWriteLayout has another implementation read what is written, and compares it with what Push pushes.
func TestWriteLayout(t *testing.T) {
	files := must.Value(Files(layoutFiles))(t)
	labels := map[string]string{"l": "v"}
	dir := filepath.Join(t.TempDir(), "out")
	for range 2 { // the second replaces the first
		digest := must.Value(WriteLayout(t.Context(), dir, "v1", files, labels))(t)
		index := must.Value(layout.ImageIndexFromPath(dir))(t)
		manifest, err := index.IndexManifest()
		if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations[tagAnnotation] != "v1" {
			t.Fatalf("%+v, %v", manifest, err)
		}
		hash := manifest.Manifests[0].Digest
		if hash.String() != digest {
			t.Errorf("the index names %s, and the digest is %s", hash, digest)
		}
		img := must.Value(index.Image(hash))(t)
		if err := validate.Image(img); err != nil {
			t.Error(err)
		}
		pushed, err := Push(t.Context(), newTestRegistry(t).host+"/op/bundle:1", files, labels, PushOptions{})
		if err != nil || pushed != digest {
			t.Errorf("pushed as %s, %v, written as %s", pushed, err, digest)
		}
	}
}

func TestWriteLayoutLeavesOtherFilesAlone(t *testing.T) {
	files := must.Value(Files(layoutFiles))(t)
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	if _, err := WriteLayout(t.Context(), dir, "", files, nil); err == nil || !strings.Contains(err.Error(), "holds other files") {
		t.Errorf("error %v", err)
	}
	if _, err := WriteLayout(t.Context(), filepath.Join(dir, "mine"), "", files, nil); err == nil {
		t.Error("a file is taken for a directory")
	}
}

func TestWriteArchive(t *testing.T) {
	files := must.Value(Files(layoutFiles))(t)
	var first, second bytes.Buffer
	digest := must.Value(WriteArchive(t.Context(), &first, "", files, nil))(t)
	if _, err := WriteArchive(t.Context(), &second, "", files, nil); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("the same image gives two archives, %v", err)
	}
	names := map[string]bool{}
	for reader := tar.NewReader(&first); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.NoError(t, err)
		names[header.Name] = true
	}
	if want := "blobs/" + strings.ReplaceAll(digest, ":", "/"); len(names) != 5 || !names[want] || !names["oci-layout"] || !names["index.json"] {
		t.Errorf("the archive holds %v, want five with %s", names, want)
	}
}

func TestPlatforms(t *testing.T) {
	registry := newTestRegistry(t)
	image := func(os, architecture string) v1.Image {
		img := must.Value(mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: os, Architecture: architecture}))(t)
		return img
	}
	several := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: image("linux", "amd64"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
		mutate.IndexAddendum{Add: image("windows", "arm64"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "windows", Architecture: "arm64"}}},
		mutate.IndexAddendum{Add: image("linux", "s390x")})
	single, index := registry.tag(t, "one:1"), registry.tag(t, "several:1")
	must.NoError(t, errors.Join(remote.Write(single, image("linux", "ppc64le")), remote.WriteIndex(index, several)))
	store := must.Value(Open(t.TempDir(), Config{}))(t)
	for ref, want := range map[string][]Platform{
		"/one:1":     {{"linux", "ppc64le"}},
		"/several:1": {{"linux", "amd64"}, {"windows", "arm64"}},
	} {
		registry.seen()
		got, err := store.Platforms(t.Context(), registry.host+ref, Auth{})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", ref, err, diff)
		}
	}
	if _, err := store.Platforms(t.Context(), registry.host+"/none:1", Auth{}); KindOf(err) != NotFound {
		t.Errorf("error %v, want one of kind NotFound", err)
	}
	if _, err := store.Platforms(t.Context(), "Not An Image", Auth{}); KindOf(err) != InvalidReference {
		t.Errorf("error %v, want one of kind InvalidReference", err)
	}
}

func TestWriteLayoutKeepsOtherImages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	write := func(tag, content string) string {
		t.Helper()
		files := must.Value(Files(map[string][]byte{"manifests/a.yaml": []byte(content)}))(t)
		digest := must.Value(WriteLayout(t.Context(), dir, tag, files, nil))(t)
		return digest
	}
	write("v1", "old")
	second := write("v2", "two")
	nameless := write("", "three")
	first := write("v1", "new")
	if write("", "three") != nameless {
		t.Error("the same files have another digest")
	}
	images := must.Value(layoutImages(dir))(t)
	got := map[string]string{}
	for _, image := range images {
		got[image.Digest.String()] = image.Annotations[tagAnnotation]
	}
	if want := map[string]string{second: "v2", first: "v1", nameless: ""}; !maps.Equal(got, want) || len(images) != 3 {
		t.Errorf("the layout lists %v, want %v", got, want)
	}
	must.NoError(t, os.WriteFile(filepath.Join(dir, "index.json"), []byte("{"), 0o600))
	if _, err := WriteLayout(t.Context(), dir, "v3", fstest.MapFS{"a": {}}, nil); err == nil || !strings.Contains(err.Error(), "read index.json") {
		t.Errorf("a broken index: %v", err)
	}
}
