// Command fairlead-release makes what is published of Fairlead, with Go alone: the image of the manager for several architectures as an OCI layout, the
// programs for users as archives, the manifests and the chart that install it, bills of materials in SPDX, checksums, and a statement of their provenance. The
// same sources, toolchain and CA certificates give the same bytes. It pushes and signs only when asked to; docs/releasing.md describes it. Start reading at
// Make (make.go).
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
)

// Where the CLI is released for, and which programs.
const (
	defaultPrograms  = "cmd/fairlead,cmd/opm"
	defaultPlatforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := Options{Source: "."}
	flags := pflag.NewFlagSet("fairlead-release", pflag.ExitOnError)
	flags.StringVar(&o.Package, "package", "cmd/fairlead-manager", "program of the image")
	flags.StringSliceVar(&o.Arches, "arch", []string{"amd64", "arm64"}, "architectures of the image, as Go names them")
	flags.StringSliceVar(&o.Programs, "programs", strings.Split(defaultPrograms, ","), "programs that are packed for each platform; empty for the image alone")
	flags.StringSliceVar(&o.Platforms, "platforms", strings.Split(defaultPlatforms, ","), "platforms of the packed programs")
	flags.StringVar(&o.CACertificates, "ca-certificates", "/etc/ssl/certs/ca-certificates.crt", "PEM file with the CA certificates of the image")
	flags.StringVar(&o.Out, "out", "", "directory to write to, empty or new, and outside of the repository")
	flags.StringVar(&o.Version, "version", "", "version of the release, such as v1.2.3 (default: the tag of the commit, or v0.0.0-TIME-COMMIT)")
	flags.StringVar(&o.Image, "image", "", "tag under which the image is published, as in registry.example.com/fairlead-manager:v1.2.3; it is not pushed (default: that of --push)")
	push := flags.String("push", "", "tag to push the image under, as in registry.example.com/fairlead-manager:v1.2.3")
	key := flags.String("sign-key", "", "file with the private key to sign the checksums with and, with --push, the image and its provenance; $COSIGN_PASSWORD has its password")
	_ = flags.Parse(os.Args[1:]) // it ends the program
	if err := run(ctx, o, *push, *key); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead-release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o Options, push, keyFile string) error {
	if o.Out == "" {
		return errors.New("name a directory with --out")
	}
	if push != "" && o.Image != "" && push != o.Image {
		return fmt.Errorf("--image %s and --push %s are different: the image is published under the tag of --push; leave --image out", o.Image, push)
	}
	o.Image = cmp.Or(push, o.Image)
	key, err := signingKey(keyFile)
	if err != nil {
		return err
	}
	if o.Commit, o.Time, err = commit(ctx, o.Source); err != nil {
		return err
	}
	if o.Version == "" {
		if o.Version, err = versionOf(ctx, o); err != nil {
			return err
		}
	}
	made, err := Make(ctx, o)
	if err != nil {
		return err
	}
	if key != nil {
		if err := SignChecksums(o.Out, key); err != nil {
			return err
		}
	}
	if push != "" {
		if made.Image, err = Publish(ctx, o.Out, made, push, key, image.PushOptions{}); err != nil {
			return err
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(made)
}

// signingKey reads the key before anything is built; nil without one.
func signingKey(file string) (*signature.Key, error) {
	if file == "" {
		return nil, nil
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

// versionOf is the highest version among the tags of the commit; without one it is named as Go names commits.
func versionOf(ctx context.Context, o Options) (string, error) {
	tags, err := git(ctx, o.Source, "tag", "--points-at", o.Commit, "--sort=-version:refname")
	if err != nil {
		return "", err
	}
	for tag := range strings.FieldsSeq(tags) {
		if checkVersion(tag) == nil {
			return tag, nil
		}
	}
	return fmt.Sprintf("v0.0.0-%s-%s", o.Time.UTC().Format("20060102150405"), o.Commit[:12]), nil
}

// checkVersion refuses what the programs, the chart and an upgrade cannot compare.
func checkVersion(version string) error {
	if _, err := semver.Parse(strings.TrimPrefix(version, "v")); err != nil || !strings.HasPrefix(version, "v") || strings.Contains(version, "+") {
		return fmt.Errorf("version %q is none of a release: name a semantic version without build metadata, such as v1.2.3", version)
	}
	return nil
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
