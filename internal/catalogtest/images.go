package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/image"

	"golang.org/x/sync/errgroup"
)

// Images are the images that a bundle names: those of its pods and related ones, and those in variables that are called RELATED_IMAGE_ by convention.
func Images(b *bundle.Bundle) []string {
	all := b.Images()
	for _, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, container := range slices.Concat(d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Containers) {
			for _, variable := range container.Env {
				if strings.HasPrefix(variable.Name, "RELATED_IMAGE_") && variable.Value != "" {
					all = append(all, variable.Value)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ImageStore asks registries; *image.Store does so with a HEAD request and reads no content.
type ImageStore interface {
	Exists(ctx context.Context, ref string, auth image.Auth) error
}

// ImageChecker finds images that do not exist. It asks for each once.
type ImageChecker struct {
	Store ImageStore
	Auth  image.Auth

	mu    sync.Mutex
	asked map[string]func() error
}

// parallelImages is how many images are asked for at once.
const parallelImages = 8

// Missing are the images of a bundle that the registry says it does not have, and those whose references no registry could answer. That one could not be
// asked for proves nothing: the error has those.
func (k *ImageChecker) Missing(ctx context.Context, b *bundle.Bundle) ([]Finding, error) {
	refs := Images(b)
	answers := make([]error, len(refs))
	var group errgroup.Group
	group.SetLimit(parallelImages)
	for i, ref := range refs {
		group.Go(func() error {
			answers[i] = k.ask(ctx, ref)
			return nil
		})
	}
	_ = group.Wait() // the answers have the errors
	var findings []Finding
	var unknown []error
	for i, err := range answers {
		kind := image.KindOf(err)
		switch {
		case err == nil:
		case kind == image.NotFound || kind == image.InvalidReference:
			findings = append(findings, Finding{Rule: ImageMissing, Object: "Image " + refs[i], Message: fmt.Sprintf("%s names it: %v", b.Name, err), Remedy: help(ImageMissing).Remedy})
		default:
			unknown = append(unknown, err)
		}
	}
	if len(unknown) > 0 {
		return findings, fmt.Errorf("ask for the images of bundle %s: %w", b.Name, errors.Join(unknown...))
	}
	return findings, nil
}

func (k *ImageChecker) ask(ctx context.Context, ref string) error {
	k.mu.Lock()
	if k.asked == nil {
		k.asked = map[string]func() error{}
	}
	answer := k.asked[ref]
	if answer == nil {
		answer = sync.OnceValue(func() error { return k.Store.Exists(ctx, ref, k.Auth) })
		k.asked[ref] = answer
	}
	k.mu.Unlock()
	return answer()
}
