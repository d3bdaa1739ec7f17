package validate

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/version"
)

// Options say what is checked besides what is always checked. The zero value adds nothing.
type Options struct {
	// Optional are further validators; Select finds them.
	Optional []Validator
	// KubeVersion is the Kubernetes version that the bundle is for, in which removed APIs are errors. Empty stands for
	// the lowest that the bundle allows.
	KubeVersion string
	// IndexFile is the content of the Dockerfile of the catalog that the bundle is meant for, nil if there is none. The
	// validator community reads its label with OpenShift versions.
	IndexFile []byte
	// Categories take the place of the standard categories, if there are any.
	Categories []string
	// Platforms tells the platforms of images to the validator multiarch.
	Platforms Platforms
}

// Platforms finds out for which platforms an image is offered.
type Platforms interface {
	Platforms(ctx context.Context, image string) ([]Platform, error)
}

// Platform is an operating system and an architecture.
type Platform struct{ OS, Architecture string }

func (p Platform) String() string { return p.OS + "/" + p.Architecture }

// Run judges a bundle. Its error is for options that make no sense, and for a context that ends.
func Run(ctx context.Context, in *bundle.Inspection, o Options) (Report, error) {
	if o.KubeVersion != "" {
		if _, err := version.ParseTolerant(o.KubeVersion); err != nil {
			return Report{}, fmt.Errorf("validate bundle: Kubernetes version: %w", err)
		}
	}
	s := newSubject(in, o)
	findings := []Finding{} // never null for programs
	for _, v := range slices.Concat(alwaysChecked(), o.Optional) {
		left := maxFindings
		v.check(ctx, recorder{subject: s, validator: v.Name, findings: &findings, left: &left})
	}
	if err := ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("validate bundle: %w", err)
	}
	return finish(in.Bundle.Name, findings), nil
}

func alwaysChecked() []Validator {
	return slices.DeleteFunc(Validators(), func(v Validator) bool { return v.Optional })
}
