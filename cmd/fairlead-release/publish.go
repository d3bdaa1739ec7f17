package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
)

// Publish pushes the image of a release in the directory out under ref, a tag. With a key the index and the image of each platform are signed, and the
// provenance is signed and attached to each as an attestation, so that a policy can require both, by whichever digest an image is pulled.
func Publish(ctx context.Context, out string, made Release, ref string, key *signature.Key, o image.PushOptions) (string, error) {
	statement, err := os.ReadFile(filepath.Join(out, ProvenanceFile))
	if err != nil {
		return "", fmt.Errorf("publish the release of %s: %w", out, err)
	}
	digest, err := image.PushLayout(ctx, ref, filepath.Join(out, LayoutDir), o)
	if err != nil {
		return "", err
	}
	pinned := image.Pin(ref, digest)
	if key == nil {
		return pinned, nil
	}
	digests := []string{digest}
	for _, image := range made.Images {
		digests = append(digests, image.Digest)
	}
	for _, digest := range digests {
		if err := signature.Sign(ctx, ref, digest, key, o); err != nil {
			return "", fmt.Errorf("the image was pushed, but not signed: %w; run the same command again, with another --out", err)
		}
		if err := signature.Attest(ctx, ref, digest, statement, key, o); err != nil {
			return "", fmt.Errorf("the image was pushed and signed, but its provenance was not attached: %w; run the same command again, with another --out", err)
		}
	}
	return pinned, nil
}
