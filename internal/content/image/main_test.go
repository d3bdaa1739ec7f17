package image

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMain keeps the registry configuration of the host out of the tests, and
// lets the test binary stand in for another process that pulls. Such a process
// has the environment that its test gives it.
func TestMain(m *testing.M) {
	if ref := os.Getenv(childPulls); ref != "" {
		os.Exit(pullAsChild(ref))
	}
	home, err := os.MkdirTemp("", "fairlead-image-")
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home, "DOCKER_CONFIG": home,
		"REGISTRY_AUTH_FILE": "", "CONTAINERS_REGISTRIES_CONF": "",
	} {
		_ = os.Setenv(name, value)
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// Environment of a child process: the images to pull, separated by spaces, the
// store, the certificates, a host that is insecure, and how often to pull.
const (
	childPulls    = "FAIRLEAD_IMAGE_TEST_PULL"
	childStore    = "FAIRLEAD_IMAGE_TEST_STORE"
	childCerts    = "FAIRLEAD_IMAGE_TEST_CERTS"
	childInsecure = "FAIRLEAD_IMAGE_TEST_INSECURE"
	childRounds   = "FAIRLEAD_IMAGE_TEST_ROUNDS"
)

// pullAsChild pulls images and prints the content of their files "a". With
// several rounds it also collects all of them after each, as if a long time had
// passed, and prints the content of the last round only.
func pullAsChild(refs string) int {
	s, err := Open(os.Getenv(childStore), Config{CertsDir: os.Getenv(childCerts), Insecure: strings.Fields(os.Getenv(childInsecure))})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	rounds, _ := strconv.Atoi(os.Getenv(childRounds))
	var got string
	for round := range max(rounds, 1) {
		if round > 0 {
			if err := collectAll(s); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		got = ""
		for _, ref := range strings.Fields(refs) {
			content, err := pullOne(s, ref)
			if err != nil {
				fmt.Println(err)
				return 1
			}
			got += content
		}
	}
	fmt.Print(got)
	return 0
}

func pullOne(s *Store, ref string) (string, error) {
	image, err := s.Pull(context.Background(), ref, PullOptions{})
	if err != nil {
		return "", err
	}
	defer image.Close()
	data, err := fs.ReadFile(image.FS(), "a")
	return string(data), err
}

// collectAll removes every image from the store, as if nobody had used it for
// a while.
func collectAll(s *Store) error {
	long := time.Now().Add(-2 * grace)
	entries, err := os.ReadDir(filepath.Join(string(s.dir), imagesDir))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		_ = os.Chtimes(filepath.Join(string(s.dir), imagesDir, entry.Name()), long, long) // gone when another process was faster
	}
	_, err = s.GC(context.Background(), nil, 0)
	return err
}
