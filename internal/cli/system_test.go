package cli

import (
	"bytes"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
)

// TestTheReleasedImageIsTheDefault: a program that was published with an image installs that one, and its help says so.
func TestTheReleasedImageIsTheDefault(t *testing.T) {
	releasedImage = "registry.example.com/released:v1"
	defer func() { releasedImage = "" }()
	for want, args := range map[string][]string{
		"image: registry.example.com/released:v1": {"system", "install", "--dry-run"},
		"image: registry.example.com/mine:v1":     {"system", "install", "--dry-run", "--image", "registry.example.com/mine:v1"},
		"registry.example.com/released:v1)":       {"system", "install", "--help"},
	} {
		var out, errs bytes.Buffer
		if code := Run(t.Context(), args, nil, &out, &errs); code != command.ExitOK {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		contains(t, out.String(), want)
	}
}
