package image

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/opencontainers/go-digest"
)

func TestPullReadsEachCompression(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	want := map[string]string{"manifests/csv.yaml": "kind: ClusterServiceVersion", "metadata/annotations.yaml": "annotations: {}"}
	layer := tarOf(t, dir("manifests/"), file("manifests/csv.yaml", want["manifests/csv.yaml"]),
		file("./metadata/annotations.yaml", want["metadata/annotations.yaml"]))
	skippable := append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z'}, zstdOf(t, layer)...)
	for name, sent := range map[string][]byte{
		"gzip": gzipOf(t, layer), "zstd": zstdOf(t, layer), "zstd after a skippable frame": skippable, "uncompressed": layer,
	} {
		t.Run(name, func(t *testing.T) {
			labels := map[string]string{LabelPackage: "demo", "note": name}
			d := r.push(t, "test/bundle:v1", imageOf(t, labels, sent))
			image, files := pullFiles(t, openStore(t, Config{}), r.host+"/test/bundle:v1", PullOptions{})
			must.Equal(t, "files", files, want)
			got := Image{Ref: image.Ref, Digest: image.Digest, Pinned: image.Pinned, Labels: image.Labels}
			wantImage := Image{Ref: r.host + "/test/bundle:v1", Digest: d, Pinned: r.host + "/test/bundle@" + d, Labels: labels}
			must.Equal(t, "image", got, wantImage, cmp.AllowUnexported(Image{}))
		})
	}
}

func TestPullAsksOnlyForWhatIsNotStored(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "1")))))
	s := openStore(t, Config{})
	tag, pinned := r.host+"/test/image:v1", r.host+"/test/image@"+d
	r.seen()

	pullFiles(t, s, tag, PullOptions{})
	if got := r.seen(); len(got) != 4 { // HEAD and GET manifest, configuration, layer
		t.Errorf("first pull made the requests %q, want 4", got)
	}
	pullFiles(t, s, tag, PullOptions{})
	must.Equal(t, "second pull by tag", r.seen(), []string{"HEAD /v2/test/image/manifests/v1"})
	for _, ref := range []string{pinned, r.host + "/test/image:any@" + d} {
		if _, files := pullFiles(t, s, ref, PullOptions{}); files["a"] != "1" {
			t.Errorf("pull %s: files %v", ref, files)
		}
		if got := r.seen(); len(got) != 0 {
			t.Errorf("pull of stored %s made the requests %q", ref, got)
		}
	}
}

func TestPullFollowsAMovedTag(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	s := openStore(t, Config{})
	for _, content := range []string{"old", "new"} {
		r.push(t, "test/image:latest", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", content)))))
		if _, files := pullFiles(t, s, r.host+"/test/image", PullOptions{}); files["a"] != content {
			t.Errorf("pull after pushing %q: files %v", content, files)
		}
	}
}

func TestPullWithAnotherFilter(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a/1", "a"), file("b/2", "b"), file("c/3", "c")))))
	s := openStore(t, Config{})
	under := func(prefixes ...string) PullOptions {
		return PullOptions{Filter: func(p string) bool {
			for _, prefix := range prefixes {
				if strings.HasPrefix(p, prefix) {
					return true
				}
			}
			return false
		}}
	}
	steps := []struct {
		name     string
		options  PullOptions
		want     map[string]string
		requests int
	}{
		{"first", under("a/"), map[string]string{"a/1": "a"}, 4},
		{"the same again", under("a/"), map[string]string{"a/1": "a"}, 1},
		{"more than is stored", under("b/"), map[string]string{"b/2": "b"}, 4},
		{"both are stored now", under("a/", "b/"), map[string]string{"a/1": "a", "b/2": "b"}, 1},
		{"nothing", under("z/"), map[string]string{}, 1},
		{"all", PullOptions{}, map[string]string{"a/1": "a", "b/2": "b", "c/3": "c"}, 4},
		{"less than is stored", under("c/"), map[string]string{"c/3": "c"}, 1},
	}
	r.seen()
	for _, step := range steps {
		_, files := pullFiles(t, s, r.host+"/test/image:v1", step.options)
		must.Equal(t, fmt.Sprintf("%s: files", step.name), files, step.want)
		if got := r.seen(); len(got) != step.requests {
			t.Errorf("%s: requests %q, want %d", step.name, got, step.requests)
		}
	}
}

func TestPullChoosesAPlatform(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	tests := map[string]struct {
		platforms []string
		want      string
		kind      Kind
	}{
		"own architecture":         {[]string{"linux/amd64", "windows/s390x", "linux/s390x"}, "linux/s390x", ""},
		"amd64 otherwise":          {[]string{"linux/arm64", "linux/amd64"}, "linux/amd64", ""},
		"the first linux at least": {[]string{"unknown/unknown", "linux/ppc64le", "linux/arm64"}, "linux/ppc64le", ""},
		"no linux":                 {[]string{"windows/amd64", "unknown/unknown"}, "", NoPlatform},
		"none at all":              {nil, "", NoPlatform},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var index v1.ImageIndex = empty.Index
			for _, p := range tt.platforms {
				image := imageOf(t, nil, gzipOf(t, tarOf(t, file("platform", p))))
				platform := must.Value(v1.ParsePlatform(p))(t)
				index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
			}
			must.NoError(t, remote.WriteIndex(r.tag(t, "test/index:v1"), index))
			s := openStore(t, Config{Architecture: "s390x"})
			if tt.kind != "" {
				_, err := s.Pull(context.Background(), r.host+"/test/index:v1", PullOptions{})
				if KindOf(err) != tt.kind {
					t.Errorf("error %v, want kind %s", err, tt.kind)
				}
				return
			}
			image, files := pullFiles(t, s, r.host+"/test/index:v1", PullOptions{})
			d, _ := index.Digest()
			if files["platform"] != tt.want || image.Digest != d.String() {
				t.Errorf("got %v with digest %s, want %s with the digest of the index %s", files, image.Digest, tt.want, d)
			}
		})
	}
}

func TestPullSelectsByLabels(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	layer := gzipOf(t, tarOf(t, file("configs/p/catalog.yaml", "fbc"), file("configs2/x", "-"), file("manifests/csv.yaml", "csv"), file("bin/opm", "-")))
	tests := map[string]struct {
		labels map[string]string
		choose func(map[string]string) (func(string) bool, error)
		want   map[string]string
		reason string
	}{
		"catalog":               {CatalogLabels(), SelectCatalog, map[string]string{"configs/p/catalog.yaml": "fbc"}, ""},
		"bundle":                {BundleLabels("p", []string{"stable"}, "stable"), SelectBundle, map[string]string{"manifests/csv.yaml": "csv"}, ""},
		"bundle without labels": {nil, SelectBundle, map[string]string{"manifests/csv.yaml": "csv"}, ""},
		"no catalog":            {nil, SelectCatalog, nil, "it has no label " + LabelConfigs},
		"bundle for a catalog":  {BundleLabels("p", []string{"stable"}, "stable"), SelectCatalog, nil, "it is a bundle image, of package p (label " + LabelPackage + "), and no catalog (put it into a catalog with fairlead catalog add-bundle"},
		"catalog for a bundle":  {CatalogLabels(), SelectBundle, nil, "not a bundle image"},
		"label of the root":     {map[string]string{LabelConfigs: "/"}, SelectCatalog, nil, "must name a directory below the root"},
		"label that climbs":     {map[string]string{LabelConfigs: "../configs/"}, SelectCatalog, map[string]string{"configs/p/catalog.yaml": "fbc"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r.push(t, "test/labels:v1", imageOf(t, tt.labels, layer))
			s := openStore(t, Config{})
			if tt.reason == "" {
				_, files := pullFiles(t, s, r.host+"/test/labels:v1", PullOptions{Select: tt.choose})
				must.Equal(t, "files", files, tt.want)
				return
			}
			_, err := s.Pull(context.Background(), r.host+"/test/labels:v1", PullOptions{Select: tt.choose})
			if KindOf(err) != InvalidImage || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v, want kind %s with %q", err, InvalidImage, tt.reason)
			}
		})
	}
}

func TestPullMakesAnImageYoung(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "1")))))
	s := openStore(t, Config{})
	pullFiles(t, s, r.host+"/test/image:v1", PullOptions{})
	path := s.dir.path(imagesDir, digest.Digest(d))
	age(t, path)
	pullFiles(t, s, r.host+"/test/image:v1", PullOptions{})
	if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) > time.Minute {
		t.Errorf("last use is not noted: %v, %v", info.ModTime(), err)
	}
}

func TestImageOutlivesItsPlaceInTheStore(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "1")))))
	s := openStore(t, Config{})
	image, _ := pullFiles(t, s, r.host+"/test/image:v1", PullOptions{})
	age(t, s.dir.path(imagesDir, digest.Digest(d)))
	if stats, err := s.GC(context.Background(), nil, 0); err != nil || stats.Removed != 1 {
		t.Fatalf("GC: %+v, %v", stats, err)
	}
	if data, err := fs.ReadFile(image.FS(), "a"); string(data) != "1" {
		t.Errorf("read after collection: %q, %v", data, err)
	}
}

func TestPullLimitsBeforeLayers(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	layers := [][]byte{gzipOf(t, tarOf(t, file("a", "1"))), gzipOf(t, tarOf(t, file("b", "1")))}
	r.push(t, "test/image:v1", imageOf(t, map[string]string{"l": "v"}, layers...))
	for name, limits := range map[string]Limits{
		"Layers = 1": {Layers: 1}, "CompressedBytes = 20": {CompressedBytes: 20}, "ConfigBytes = 10": {ConfigBytes: 10},
	} {
		r.seen()
		_, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{Limits: limits})
		if KindOf(err) != LimitExceeded || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %s by %s", err, LimitExceeded, name)
		}
		if n := layerRequests(r); n != 0 {
			t.Errorf("%s: %d blobs were asked for", name, n)
		}
	}
	r.fault(onPath("/manifests/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 5*mib))
	}))
	if _, err := openStore(t, Config{}).Pull(context.Background(), r.host+"/test/image:v1", PullOptions{}); KindOf(err) != LimitExceeded {
		t.Errorf("giant manifest: %v, want %s", err, LimitExceeded)
	}
}

func TestPullReportsProgress(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	layers := [][]byte{gzipOf(t, tarOf(t, file("a", "1"))), gzipOf(t, tarOf(t, file("b", "1")))}
	r.push(t, "test/image:v1", imageOf(t, nil, layers...))
	want := int64(len(layers[0]) + len(layers[1]))
	var last int64
	pullFiles(t, openStore(t, Config{}), r.host+"/test/image:v1", PullOptions{Progress: func(read, total int64) {
		if read < last || total != want {
			t.Errorf("progress %d of %d after %d, want %d in all", read, total, last, want)
		}
		last = read
	}})
	if last != want {
		t.Errorf("progress ends at %d of %d", last, want)
	}
}
