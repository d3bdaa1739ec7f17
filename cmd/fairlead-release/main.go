// Command fairlead-release makes what is published of the manager, with Go alone: the static program, an image of it as an OCI layout, a bill of
// materials in SPDX and a statement of its provenance. The same sources, toolchain and CA certificates give the same bytes. It pushes and signs
// only when asked to; docs/releasing.md describes it. Start reading at Make (make.go).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := Options{Source: "."}
	flag.StringVar(&o.Package, "package", "cmd/fairlead-manager", "program to release")
	flag.StringVar(&o.Arch, "arch", runtime.GOARCH, "architecture, as Go names it")
	flag.StringVar(&o.CACertificates, "ca-certificates", "/etc/ssl/certs/ca-certificates.crt", "PEM file with the CA certificates of the image")
	flag.StringVar(&o.Out, "out", "", "directory to write to, empty or new, and outside of the repository")
	push := flag.String("push", "", "tag to push the image under, as in registry.example.com/fairlead-manager:v1")
	key := flag.String("sign-key", "", "with --push: file with the private key to sign the image and its provenance with; $COSIGN_PASSWORD has its password")
	flag.Parse()
	if err := run(ctx, o, *push, *key); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead-release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o Options, push, keyFile string) error {
	if o.Out == "" {
		return errors.New("name a directory with --out")
	}
	key, err := signingKey(push, keyFile)
	if err != nil {
		return err
	}
	if o.Commit, o.Time, err = commit(ctx, o.Source); err != nil {
		return err
	}
	made, err := Make(ctx, o)
	if err != nil {
		return err
	}
	if push != "" {
		if made.Image, err = Publish(ctx, o.Out, push, key, image.PushOptions{}); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(made)
}

// signingKey reads the key before anything is built; nil without one.
func signingKey(push, file string) (*signature.Key, error) {
	if file == "" {
		return nil, nil
	}
	if push == "" {
		return nil, errors.New("--sign-key: signatures are stored in a registry beside the image: name a tag with --push")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	key, err := signature.ParseKey(data, func() ([]byte, error) { return []byte(os.Getenv("COSIGN_PASSWORD")), nil })
	if err != nil {
		return nil, fmt.Errorf("read the signing key %s: %w", file, err)
	}
	return key, nil
}

// commit returns the commit that identifies the sources, and its time. A working tree with changes is identified by none.
func commit(ctx context.Context, dir string) (string, time.Time, error) {
	if changed, err := git(ctx, dir, "status", "--porcelain"); err != nil || changed != "" {
		return "", time.Time{}, errors.Join(err, fmt.Errorf("the working tree has files that no commit identifies: commit, stash or remove them, and write releases outside of it: %s", changed))
	}
	text, err := git(ctx, dir, "show", "-s", "--format=%H %cI", "HEAD")
	if err != nil {
		return "", time.Time{}, err
	}
	hash, at, _ := strings.Cut(text, " ")
	made, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the time of commit %s: %w", hash, err)
	}
	return hash, made, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w; run this in a clone of the repository", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
