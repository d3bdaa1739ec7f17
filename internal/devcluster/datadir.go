package devcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// dataDir is a cluster's data directory.
type dataDir string

// What is in it, beside the logs.
const (
	lockFile       = "lock"
	stateFile      = "cluster.json"
	kubeconfigFile = "kubeconfig"
	clientsDir     = "clients" // with a kubeconfig for each user
	pkiDir         = "pki"
	etcdDir        = "etcd"
	registryDir    = "registry"
	egressFile     = "egress.yaml"
	nodeDir        = "node"
)

func (d dataDir) path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// log is the path of the log of a component.
func (d dataDir) log(component string) string { return d.path("logs", component+".log") }

// create makes the directory and those inside it, for the owner only. A directory with other things in it is refused: a
// throwaway cluster deletes its directory with all that is there.
func (d dataDir) create() error {
	entries, err := os.ReadDir(d.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look into the data directory: %w", err)
	}
	if _, err := os.Stat(d.path(lockFile)); err != nil && len(entries) > 0 {
		return fmt.Errorf("directory %s is not empty and not the data directory of a cluster: choose another", d)
	}
	if err := d.makeDirs(); err != nil {
		return err
	}
	lock, err := openLock(d.path(lockFile))
	if err != nil {
		return err
	}
	return lock.Close()
}

func (d dataDir) makeDirs() error {
	for _, dir := range []string{d.path(), d.path("logs"), d.path(clientsDir), d.path(registryDir)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create the data directory: %w", err)
		}
	}
	if err := os.Chmod(d.path(), 0o700); err != nil {
		return fmt.Errorf("protect the data directory: %w", err)
	}
	return nil
}

// reuse decides what becomes of the content that an earlier cluster left: a throwaway one that was killed leaves nothing to
// keep, and one that was to be kept must not be thrown away.
func (d dataDir) reuse(throwaway bool) (previous record, err error) {
	previous, err = d.readRecord()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return record{}, nil
	case err != nil:
		return previous, err
	case previous.Throwaway:
		return record{}, d.clear()
	case throwaway:
		return previous, fmt.Errorf("data directory %s holds a cluster that is to be kept: delete it, or choose another directory or name", d)
	}
	return previous, nil
}

// clear deletes everything but the lock, which is held, and the logs.
func (d dataDir) clear() error {
	entries, err := os.ReadDir(d.path())
	if err != nil {
		return fmt.Errorf("clear the data directory: %w", err)
	}
	for _, entry := range entries {
		path := d.path(entry.Name())
		if path == d.path(lockFile) || path == d.path("logs") {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("clear the data directory: %w", err)
		}
	}
	return d.makeDirs()
}

// maxSocketPath is what the smallest of the supported systems allows, less the longest name of a socket here.
const maxSocketPath = 104 - len("/control.sock") - 1

// sockets is the directory of the cluster's Unix sockets: the data directory, or when its path is too long for the
// system's limit on socket paths, one in the temporary directory. Only the owner may enter it.
func (d dataDir) sockets() (string, error) {
	if len(d) <= maxSocketPath {
		return d.path(), nil
	}
	sum := sha256.Sum256([]byte(d))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("fairlead-%d-%s", os.Getuid(), hex.EncodeToString(sum[:6])))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("create the directory for sockets: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("create the directory for sockets: %w", err)
	}
	stat, own := info.Sys().(*syscall.Stat_t)
	own = own && int(stat.Uid) == os.Getuid()
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !own {
		return "", fmt.Errorf("directory for sockets %s: it belongs to someone else or is open to others; remove it", dir)
	}
	return dir, nil
}

// record is what a running cluster writes down for its clients, and the next start on the directory for itself.
type record struct {
	Name         string    `json:"name"`
	PID          int       `json:"pid"`
	ProcessStart string    `json:"processStart"`
	Started      time.Time `json:"started"`
	Control      string    `json:"control"`
	APIPort      int       `json:"apiPort"`
	RegistryPort int       `json:"registryPort"`
	Throwaway    bool      `json:"throwaway,omitempty"`
	RealNode     bool      `json:"realNode,omitempty"`
}

func (d dataDir) readRecord() (record, error) {
	var r record
	content, err := os.ReadFile(d.path(stateFile))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return r, fmt.Errorf("read %s: %w", d.path(stateFile), err)
	}
	return r, nil
}

// writeRecord replaces the file at once, so that no reader sees half of it.
func (d dataDir) writeRecord(r record) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	next := d.path(stateFile) + ".new"
	if err := os.WriteFile(next, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("record the cluster: %w", err)
	}
	return os.Rename(next, d.path(stateFile))
}
