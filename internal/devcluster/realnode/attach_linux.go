package realnode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// runDir is what the machine knows of its node. It is gone after a reboot, as are the interfaces and mounts that it is about.
const runDir = "/run/fairlead-node"

// maxSocketPath is what Linux allows.
const maxSocketPath = 107

// Node is this machine as the node of a cluster, until Detach.
type Node struct {
	Config
	lock *os.File
}

// Attach takes the machine for a cluster: no other has a node on it meanwhile. It removes what a killed cluster left, makes the pods'
// network and writes all files. Its caller then starts containerd, imports the pause image, and starts kubelet and kube-proxy.
func Attach(c Config) (*Node, error) {
	lock, err := lockMachine(c.Dir)
	if err != nil {
		return nil, err
	}
	n := &Node{Config: c, lock: lock}
	if socket := n.path("kubelet", "pod-resources", "kubelet.sock"); len(socket) > maxSocketPath {
		_ = lock.Close()
		return nil, fmt.Errorf("the directory of the node, %s, has too long a name: kubelet's socket %s would have %d characters, and the kernel allows %d; choose another --data-dir", n.Dir, socket, len(socket), maxSocketPath)
	}
	if err := n.attach(); err != nil {
		return nil, errors.Join(err, n.Detach())
	}
	return n, nil
}

func (n *Node) attach() error {
	if err := cleanRecorded(); err != nil {
		return fmt.Errorf("remove what an earlier node left: %w", err)
	}
	if err := checkAddresses(); err != nil {
		return err
	}
	// After a reboot there is no record any more, and files of pods that ended with it are still there.
	if err := unmountBelow(n.Dir); err != nil {
		return err
	}
	if err := empty(n.Dir); err != nil {
		return err
	}
	r := record{Dir: n.Dir, Socket: n.Socket, Sysctls: map[string]string{}, KubeletDirWasThere: exists(kubeletDefaultDir)}
	for _, key := range sysctls {
		value, err := readSysctl(key)
		if err != nil {
			return fmt.Errorf("read the kernel's setting %s: %w", key, err)
		}
		r.Sysctls[key] = value
	}
	// The record comes first: what is made after it is removed by the next start even if this process ends now.
	if err := r.write(); err != nil {
		return err
	}
	for _, key := range sysctls {
		if err := writeSysctl(key, "1"); err != nil {
			return err
		}
	}
	if err := makeNetwork(); err != nil {
		return err
	}
	if err := n.writeFiles(); err != nil {
		return err
	}
	return writePauseImage(n.PauseArchive())
}

// Detach ends all that runs in pods and gives the machine back as it was. Its caller has stopped kubelet, kube-proxy and containerd.
func (n *Node) Detach() error {
	err := cleanRecorded()
	_ = n.lock.Close()
	return err
}

// CleanUp removes what a killed cluster left on this machine, unless it is still in use. Nothing is to be deleted from the directory of a
// node before: mounts of pods may be in it.
func CleanUp() error {
	if os.Geteuid() != 0 || !exists(filepath.Join(runDir, recordFile)) {
		return nil
	}
	lock, err := lockMachine("")
	var taken *TakenError
	if errors.As(err, &taken) {
		return nil // by a running one
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := cleanRecorded(); err != nil {
		return fmt.Errorf("remove what an earlier node left: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
