package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

// switchedOn in the environment makes a whole release: .ci/nightly release does.
const switchedOn = "FAIRLEAD_TEST_RELEASE"

// mostPerNode is how much a node may have to download.
const mostPerNode = 60_000_000

// TestRelease makes what is really released, twice: the same bytes, of images that are small, and programs that know their version and image.
func TestRelease(t *testing.T) {
	if os.Getenv(switchedOn) == "" {
		t.Skipf("compiles Kubernetes for each platform, up to an hour: say so with %s=1, as .ci/nightly release does; every day the other tests release a small program", switchedOn)
	}
	whole := func(o *Options) {
		o.Package, o.Programs, o.Platforms = "cmd/fairlead-manager", strings.Split(defaultPrograms, ","), strings.Split(defaultPlatforms, ",")
		o.Image = "registry.example.com/fairlead-manager:v1.2.3"
	}
	first, made := released(t, whole)
	for _, image := range made.Images {
		t.Logf("image for %s: %.1f MB to download", image.Platform, float64(image.Size)/1e6)
		if image.Size >= mostPerNode {
			t.Errorf("the image for %s is %d bytes, and may have %d", image.Platform, image.Size, mostPerNode)
		}
	}
	if len(made.Images) != 2 || len(made.Files) != 2*2+8*2+3 {
		t.Errorf("%d images and the files %q", len(made.Images), made.Files)
	}
	manifests := string(must.Value(os.ReadFile(filepath.Join(first.Out, ManifestsFile)))(t))
	must.Contain(t, ManifestsFile, manifests, "image: "+made.Image+"\n", "operators.fairlead.dev/installed-version: v1.2.3")
	if platform := runtime.GOOS + "/" + runtime.GOARCH; slices.Contains(first.Platforms, platform) {
		unpacked := t.TempDir()
		archive := filepath.Join(first.Out, "fairlead_v1.2.3_"+strings.ReplaceAll(platform, "/", "_")+".tar.gz")
		if out, err := exec.Command("tar", "-xzf", archive, "-C", unpacked).CombinedOutput(); err != nil {
			t.Fatalf("unpack %s: %v: %s", archive, err, out)
		}
		for _, program := range []string{"fairlead", pluginName} {
			printed := must.Value(exec.Command(filepath.Join(unpacked, program), "version").Output())(t)
			must.Contain(t, program+" version", string(printed), "fairlead v1.2.3,")
		}
	}
	second, _ := released(t, whole)
	if diff := cmp.Diff(files(t, first.Out), files(t, second.Out)); diff != "" {
		t.Errorf("two releases differ:\n%s", diff)
	}
}
