package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/opencontainers/go-digest"
	"github.com/spf13/pflag"
)

// maxFile bounds a key, trusted root or policy.
const maxFile = 4 << 20

// files reads files and remembers what was in them, so that a change can be
// noticed.
type files struct {
	names   []string
	digests map[string]string
}

// read returns the content of a file.
func (f *files) read(name string) ([]byte, error) {
	data, fingerprint, err := readBounded(name)
	if f.digests == nil {
		f.digests = map[string]string{}
	}
	if _, ok := f.digests[name]; !ok {
		f.names = append(f.names, name)
	}
	f.digests[name] = fingerprint
	return data, err
}

// readBounded returns the content of a file, and a fingerprint that is the same
// as long as the file stays as it is, missing included.
func readBounded(name string) (data []byte, fingerprint string, err error) {
	file, err := os.Open(name)
	if err == nil {
		defer file.Close()
		data, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	}
	if err == nil && len(data) > maxFile {
		data, err = nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	if err != nil {
		return data, "error " + err.Error(), err
	}
	return data, digest.FromBytes(data).Encoded(), nil
}

// policies are the files that decide, as they are now.
type policies struct {
	own        *policy     // nil when not configured
	containers *containers // nil when not configured
	digest     string
	files      *files
}

// loaded is the result of loading: an error is remembered until a file changes.
type loaded struct {
	*policies
	err error
}

// load reads the policies. It reads all files again each time, which are few
// and small: a policy holds from the next request on, and no trick with times
// of modification lets a change pass unnoticed.
func (v *Verifier) load() (*policies, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.current.policies != nil && !slices.ContainsFunc(v.current.files.names, func(name string) bool {
		_, fingerprint, _ := readBounded(name)
		return fingerprint != v.current.files.digests[name]
	}) {
		return v.current.policies, v.current.err
	}
	p := &policies{files: &files{}}
	err := v.read(p)
	sum := sha256.New()
	for _, name := range p.files.names {
		fmt.Fprintf(sum, "%q %s\n", name, p.files.digests[name])
	}
	p.digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	v.current = loaded{p, err}
	return p, err
}

func (v *Verifier) read(p *policies) error {
	if name := v.config.Policy; name != "" {
		data, err := p.files.read(name)
		if err != nil {
			return unreadablePolicy(name, err)
		}
		if p.own, err = parsePolicy(name, data, p.files); err != nil {
			return unreadablePolicy(name, err)
		}
	}
	name := v.config.Containers
	if name == "" {
		return nil
	}
	data, err := p.files.read(name)
	if errors.Is(err, fs.ErrNotExist) && v.config.ContainersOptional && !v.obeyed {
		return nil
	}
	if err != nil {
		return unreadablePolicy(name, err)
	}
	v.obeyed = true
	if p.containers, err = parseContainers(name, data, p.files); err != nil {
		return unreadablePolicy(name, err)
	}
	return nil
}

// unreadablePolicy is why nothing is accepted.
func unreadablePolicy(name string, err error) error {
	return fmt.Errorf("the signature policy %s cannot be used, so that no image is accepted: %w", name, err)
}

// Flags are those of programs that verify images.
type Flags struct {
	policy, containers string
	set                *pflag.FlagSet
}

const containersFlag = "containers-policy"

// Add adds the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	f.set = flags
	flags.StringVar(&f.policy, "signature-policy", "", "file with the policy of signatures that images must satisfy; without one they need none")
	flags.StringVar(&f.containers, containersFlag, ContainersDefault, "policy.json of container tools that images must satisfy; the default one only where it exists; empty for none")
}

// Config is what the flags ask for. A policy.json that was named must exist.
func (f *Flags) Config() Config {
	return Config{Policy: f.policy, Containers: f.containers, ContainersOptional: !f.set.Changed(containersFlag)}
}
