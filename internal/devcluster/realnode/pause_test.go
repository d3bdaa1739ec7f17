//go:build linux && amd64

package realnode

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// TestPauseProgram runs it: it sleeps, takes next to no memory, lets ended children go, and ends when it is killed.
func TestPauseProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pause")
	must.NoError(t, os.WriteFile(file, pauseProgram(), 0o700))
	command := exec.Command(file)
	must.NoError(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for _, signal := range []syscall.Signal{0, syscall.SIGCHLD} { // the second wakes it up, and it sleeps again
		must.NoError(t, command.Process.Signal(signal))
		select {
		case err := <-ended:
			t.Fatalf("it ended by itself: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	status := string(must.Value(os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid)))(t))
	var ignored uint64 // those that the test's own parent has it ignore are among them, as nohup does with SIGHUP
	_, field, _ := strings.Cut(status, "SigIgn:\t")
	must.Value(fmt.Sscanf(field, "%x", &ignored))(t)
	if ignored&(1<<(uint(syscall.SIGCHLD)-1)) == 0 {
		t.Errorf("it does not ignore SIGCHLD:\n%s", status)
	}
	must.NoError(t, command.Process.Kill())
	<-ended
}

// TestPauseImage reads the archive as ctr does.
func TestPauseImage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pause.tar")
	must.NoError(t, writePauseImage(file))
	files := map[string][]byte{}
	archive := tar.NewReader(bytes.NewReader(must.Value(os.ReadFile(file))(t)))
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		must.NoError(t, err)
		files[header.Name] = must.Value(io.ReadAll(archive))(t)
	}
	read := func(digest string, into any) {
		must.NoError(t, json.Unmarshal(files["blobs/sha256/"+digest[len("sha256:"):]], into))
	}
	type descriptor struct {
		Digest      string
		Size        int
		Annotations map[string]string
	}
	var index struct{ Manifests []descriptor }
	must.NoError(t, json.Unmarshal(files["index.json"], &index))
	must.Equal(t, "name of the image", index.Manifests[0].Annotations["io.containerd.image.name"], PauseImage)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(index.Manifests[0].Digest, &manifest)
	var config struct {
		Config struct{ Entrypoint []string }
		Rootfs struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	read(manifest.Config.Digest, &config)
	must.Equal(t, "entry point", config.Config.Entrypoint, []string{"/pause"})
	must.Equal(t, "layers of the configuration", config.Rootfs.DiffIDs, []string{manifest.Layers[0].Digest})
	layer := tar.NewReader(bytes.NewReader(files["blobs/sha256/"+manifest.Layers[0].Digest[len("sha256:"):]]))
	header := must.Value(layer.Next())(t)
	must.Equal(t, "mode of the program", header.Mode, 0o755)
	must.Equal(t, "the program", must.Value(io.ReadAll(layer))(t), pauseProgram())
}
