package devcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	modulePath = "fairlead.dev/fairlead"
	hostImport = modulePath + "/cmd/devcluster"
)

// hostSources are the directories of this module that the program linked for tests is made of; a test compares them with
// what the go command says.
var hostSources = []string{"api/olm/v1", "catalog/safetext", "cmd/devcluster", "internal/content/image", "internal/devcluster", "internal/messages"}

// moduleRoot is the directory of go.mod above the working directory; go test runs tests in their package's directory.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.Contains(string(content), "module "+modulePath+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod of %s in %s or above: tests build the embedded cluster from source", modulePath, start)
		}
	}
}

// fingerprint covers everything that the program is built from, so that an unchanged one is found without asking the go
// command, which takes seconds to check all of Kubernetes.
func fingerprint(root string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	files := []string{filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")}
	for _, dir := range hostSources {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	slices.Sort(files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, name, len(content))
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// programEnv is how programs are built, whatever the tests are built with: flags such as -race or -cover are not for them, and without cgo the linker
// of Go links them in half the time of the linker of C.
var programEnv = []string{"GOFLAGS=", "CGO_ENABLED=0"}

// buildHost builds the program unless it is there. It replaces those of older sources.
func buildHost(ctx context.Context, root, dir string) (string, error) {
	mark, err := fingerprint(root)
	if err != nil {
		return "", fmt.Errorf("read the sources of the embedded cluster: %w", err)
	}
	binary := filepath.Join(dir, "devcluster-"+mark)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	fmt.Fprintln(os.Stderr, "devcluster: building the embedded cluster; the first time this takes minutes")
	next := binary + ".new"
	build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", next, hostImport)
	build.Dir = root
	build.Env = append(os.Environ(), programEnv...)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the embedded cluster: %w\n%s", err, output)
	}
	// Delete what begins with prefix, except one. Running programs keep their file.
	found, _ := filepath.Glob(filepath.Join(dir, "devcluster-"+"*"))
	for _, path := range found {
		if path != next {
			os.RemoveAll(path)
		}
	}
	return binary, os.Rename(next, binary)
}

// Program builds fairlead for tests that run it as a user does, and returns its path, in a directory of its own. All packages share it, and it is linked
// again only when its sources have changed, since Kubernetes is in it.
func Program() (string, error) {
	root, dir, err := sharedDir()
	if err != nil {
		return "", err
	}
	lock, err := waitLock(filepath.Join(dir, "program.lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	path := filepath.Join(dir, "program", "fairlead")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, modulePath+"/cmd/fairlead")
	build.Dir = root
	build.Env = append(os.Environ(), programEnv...)
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build fairlead: %w\n%s", err, output)
	}
	return path, nil
}
