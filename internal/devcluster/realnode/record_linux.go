package realnode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	recordFile = "record.json"
	lockFile   = "lock"
)

// record is what is to be undone when the node ends.
type record struct {
	Dir    string `json:"dir"`
	Socket string `json:"socket"`
	// Sysctls are settings of the kernel as they were before.
	Sysctls map[string]string `json:"sysctls"`
	// KubeletDirWasThere is false when the directory that every kubelet writes to was made by this one.
	KubeletDirWasThere bool `json:"kubeletDirWasThere"`
}

// TakenError says that a cluster has its node here.
type TakenError struct{ Owner string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("this machine is the real node of a cluster already (%s): stop that one first; a machine is one node", e.Owner)
}

// lockMachine is held by the supervisor for as long as the node is there; the kernel drops it when that ends.
func lockMachine(owner string) (*os.File, error) {
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return nil, fmt.Errorf("take this machine as a node: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(runDir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("take this machine as a node: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer file.Close()
		content, _ := os.ReadFile(file.Name())
		return nil, &TakenError{Owner: strings.TrimSpace(string(content))}
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(file, "process %d, files in %s\n", os.Getpid(), owner)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("take this machine as a node: %w", err)
	}
	return file, nil
}

func (r record) write() error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	next := filepath.Join(runDir, recordFile+".new")
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return fmt.Errorf("record the node: %w", err)
	}
	return os.Rename(next, filepath.Join(runDir, recordFile))
}

// readRecord returns false when nothing is to be undone.
func readRecord() (r record, found bool, err error) {
	content, err := os.ReadFile(filepath.Join(runDir, recordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err == nil && (!filepath.IsAbs(r.Dir) || r.Dir == "/" || r.Socket == "") {
		err = fmt.Errorf("directory %q and socket %q are not those of a node", r.Dir, r.Socket)
	}
	if err != nil {
		return r, false, fmt.Errorf("read the record of the node, %s (delete it to forget that node): %w", filepath.Join(runDir, recordFile), err)
	}
	return r, true, nil
}
