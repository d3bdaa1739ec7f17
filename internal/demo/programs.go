package demo

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"fairlead.dev/fairlead/examples"
)

// programsOf has the package of the program of each sample operator.
const programsOf = "fairlead.dev/fairlead/examples/operators/"

// imagePrefix is that of the images in the sample bundles, of a registry that does not exist. containerd of a real node asks the cluster's registry first.
const imagePrefix = "registry.example.com/fairlead/"

// pushPrograms builds the sample operators and pushes their images, where pods really run.
func (d *Demo) pushPrograms(ctx context.Context) error {
	if !d.options.RealNode || d.options.Bundles != "" {
		return nil
	}
	d.show.Title("Building the sample operators and pushing their images to the registry at %s", d.cluster.Registry)
	return d.timed("built", func() error {
		for _, operator := range []string{provider, dependent} {
			if err := d.pushProgram(ctx, operator); err != nil {
				return err
			}
			d.show.Done("pushed the images of %s", operator)
		}
		return nil
	})
}

// pushProgram pushes one image under the names of all versions: one program serves all versions of its API.
func (d *Demo) pushProgram(ctx context.Context, operator string) error {
	program, err := buildProgram(ctx, strings.TrimSuffix(operator, "-operator"))
	if err != nil {
		return err
	}
	image, err := programImage(program)
	if err != nil {
		return fmt.Errorf("make the image of %s: %w", operator, err)
	}
	versions, err := fs.ReadDir(examples.Bundles, "bundles/"+operator)
	if err != nil {
		return fmt.Errorf("list the versions of %s: %w", operator, err)
	}
	for _, version := range versions {
		ref, err := name.ParseReference(d.cluster.Registry + "/" + imagePrefix + operator + ":v" + version.Name())
		if err == nil {
			err = remote.Write(ref, image, remote.WithContext(ctx))
		}
		if err != nil {
			return fmt.Errorf("push the image of %s %s: %w", operator, version.Name(), err)
		}
	}
	return nil
}

func buildProgram(ctx context.Context, program string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "fairlead-demo-")
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", program, err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, program)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, programsOf+program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s%s: %w: %s; --real-node builds the sample operators: have Go, and be in a clone of the repository", programsOf, program, err, bytes.TrimSpace(output))
	}
	return os.ReadFile(file)
}

// programImage is an image with one file, as examples/operators/Containerfile makes it.
func programImage(program []byte) (v1.Image, error) {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	err := w.WriteHeader(&tar.Header{Name: "operator", Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = w.Write(program)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Entrypoint: []string{"/operator"}, User: "65532:65532"}
	return mutate.ConfigFile(image, config)
}
