// Command fairlead-release makes what is published of the manager: see docs/releasing.md.
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

	"fairlead.dev/fairlead/internal/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := release.Options{Source: "."}
	flag.StringVar(&o.Package, "package", "cmd/fairlead-manager", "program to release")
	flag.StringVar(&o.Arch, "arch", runtime.GOARCH, "architecture, as Go names it")
	flag.StringVar(&o.CACertificates, "ca-certificates", "/etc/ssl/certs/ca-certificates.crt", "PEM file with the CA certificates of the image")
	flag.StringVar(&o.Out, "out", "", "directory to write to, empty or new")
	flag.Parse()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead-release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o release.Options) error {
	if o.Out == "" {
		return fmt.Errorf("name a directory with --out")
	}
	if changed, err := git(ctx, "status", "--porcelain"); err != nil || changed != "" {
		return errors.Join(err, fmt.Errorf("the working tree has changes, which no commit identifies: commit or stash them: %s", changed))
	}
	commit, err := git(ctx, "show", "-s", "--format=%H %cI", "HEAD")
	if err != nil {
		return err
	}
	hash, at, _ := strings.Cut(commit, " ")
	o.Commit = hash
	if o.Time, err = time.Parse(time.RFC3339, at); err != nil {
		return fmt.Errorf("read the time of commit %s: %w", hash, err)
	}
	made, err := release.Make(ctx, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(made)
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w; run this in a clone of the repository", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
