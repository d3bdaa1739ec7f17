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
	files, err := Files(layoutFiles)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"l": "v"}
	dir := filepath.Join(t.TempDir(), "out")
	for range 2 { // the second replaces the first
		digest, err := WriteLayout(t.Context(), dir, "v1", files, labels)
		if err != nil {
			t.Fatal(err)
		}
		index, err := layout.ImageIndexFromPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := index.IndexManifest()
		if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations[tagAnnotation] != "v1" {
			t.Fatalf("%+v, %v", manifest, err)
		}
		hash := manifest.Manifests[0].Digest
		if hash.String() != digest {
			t.Errorf("the index names %s, and the digest is %s", hash, digest)
		}
		img, err := index.Image(hash)
		if err != nil {
			t.Fatal(err)
		}
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
	files, err := Files(layoutFiles)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteLayout(t.Context(), dir, "", files, nil); err == nil || !strings.Contains(err.Error(), "holds other files") {
		t.Errorf("error %v", err)
	}
	if _, err := WriteLayout(t.Context(), filepath.Join(dir, "mine"), "", files, nil); err == nil {
		t.Error("a file is taken for a directory")
	}
}

func TestWriteArchive(t *testing.T) {
	files, err := Files(layoutFiles)
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	digest, err := WriteArchive(t.Context(), &first, "", files, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WriteArchive(t.Context(), &second, "", files, nil); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("the same image gives two archives, %v", err)
	}
	names := map[string]bool{}
	for reader := tar.NewReader(&first); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names[header.Name] = true
	}
	if want := "blobs/" + strings.ReplaceAll(digest, ":", "/"); len(names) != 5 || !names[want] || !names["oci-layout"] || !names["index.json"] {
		t.Errorf("the archive holds %v, want five with %s", names, want)
	}
}

func TestPlatforms(t *testing.T) {
	registry := newTestRegistry(t)
	image := func(os, architecture string) v1.Image {
		img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: os, Architecture: architecture})
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	several := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: image("linux", "amd64"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}},
		mutate.IndexAddendum{Add: image("windows", "arm64"), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "windows", Architecture: "arm64"}}},
		mutate.IndexAddendum{Add: image("linux", "s390x")})
	single, index := registry.tag(t, "one:1"), registry.tag(t, "several:1")
	if err := errors.Join(remote.Write(single, image("linux", "ppc64le")), remote.WriteIndex(index, several)); err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.TempDir(), Config{})
	if err != nil {
		t.Fatal(err)
	}
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
		files, err := Files(map[string][]byte{"manifests/a.yaml": []byte(content)})
		if err != nil {
			t.Fatal(err)
		}
		digest, err := WriteLayout(t.Context(), dir, tag, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	write("v1", "old")
	second := write("v2", "two")
	nameless := write("", "three")
	first := write("v1", "new")
	if write("", "three") != nameless {
		t.Error("the same files have another digest")
	}
	images, err := layoutImages(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, image := range images {
		got[image.Digest.String()] = image.Annotations[tagAnnotation]
	}
	if want := map[string]string{second: "v2", first: "v1", nameless: ""}; !maps.Equal(got, want) || len(images) != 3 {
		t.Errorf("the layout lists %v, want %v", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteLayout(t.Context(), dir, "v3", fstest.MapFS{"a": {}}, nil); err == nil || !strings.Contains(err.Error(), "read index.json") {
		t.Errorf("a broken index: %v", err)
	}
}
