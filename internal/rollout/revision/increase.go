package revision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/version"
)

// IncreaseError is a change that asks for permissions which the installed revision does not have, and which no one has acknowledged.
type IncreaseError struct {
	*permissions.Increase
	error
}

// Increase returns a *Refusal with an *IncreaseError where the objects ask for more than what is installed, unless that is acknowledged: by the
// exact version, or by the annotation.
func (p Preflight) Increase(ctx context.Context, s Change) error {
	installed := Installed(s.Revisions)
	said := s.Extension.Annotations[permissions.AcknowledgedKey]
	if installed == nil || s.Repeated || s.Bundle.isOf(installed) || said == AcknowledgedAll {
		return nil
	}
	if catalog := s.Extension.Spec.Source.Catalog; catalog != nil && !s.isUnseen() {
		if _, err := version.Parse(catalog.Version); err == nil {
			return nil // the extension asks for this version and no other: a person has checked it
		}
	}
	before, err := Content(ctx, p.Client, installed)
	if errors.As(err, new(*LostContentError)) {
		regardless := "set spec.source.catalog.version to exactly " + s.Bundle.Version
		if s.isUnseen() {
			regardless = fmt.Sprintf("set annotation %s of ClusterExtension %s to %q", permissions.AcknowledgedKey, s.Extension.Name, AcknowledgedAll)
		}
		return fmt.Errorf("whether %s asks for more permissions than revision %d, which is installed, cannot be told: %w; %s, or, to allow whatever it asks for, %s",
			s.Bundle.Name, installed.Spec.Revision, err, Restore, regardless)
	}
	if err != nil {
		return fmt.Errorf("read what is installed, to see whether %s asks for more permissions: %w", s.Bundle.Name, err)
	}
	more := permissions.Compare(before, s.Objects)
	if more.Empty() || said == more.Digest() {
		return nil
	}
	text := fmt.Sprintf("%s asks for permissions that %s does not have:\n%s\nto allow them: fairlead approve %[4]s, or set annotation %[5]s of ClusterExtension %[4]s to %[6]q", s.Bundle.Name,
		called(installed, s.Bundle.Name), more, s.Extension.Name, permissions.AcknowledgedKey, more.Digest())
	if !s.isUnseen() {
		text += ", or set spec.source.catalog.version to exactly " + s.Bundle.Version
	}
	return Blocked(&IncreaseError{more, errors.New(text)})
}

// isOf reports whether a revision was made from the bundle, so that only the configuration differs. Another catalog or another image may have
// something else under the same name.
func (b Bundle) isOf(r *olmv1.ClusterObjectSet) bool {
	return r.Annotations[olmv1.BundleNameKey] == b.Name && r.Annotations[olmv1.BundleReferenceKey] == b.Image && r.Annotations[ContentKey] == b.Content
}

// isUnseen reports whether the version says nothing about the bundle: it comes straight from an image, or in the place of something else of that
// name or version that the extension has or is being given.
func (s Change) isUnseen() bool {
	if s.Bundle.Direct {
		return true
	}
	for i := range s.Revisions {
		r := &s.Revisions[i]
		same := r.Annotations[olmv1.BundleNameKey] == s.Bundle.Name || r.Annotations[olmv1.BundleVersionKey] == s.Bundle.Version
		if Active(r) && same && !s.Bundle.isOf(r) {
			return true
		}
	}
	return false
}

// called names the bundle of a revision; with its origin where another one has the same name.
func called(r *olmv1.ClusterObjectSet, other string) string {
	name := r.Annotations[olmv1.BundleNameKey]
	if name != other {
		return name
	}
	return fmt.Sprintf("the %s that is installed, of %s,", name, cmp.Or(r.Annotations[olmv1.BundleReferenceKey], "catalog content "+r.Annotations[ContentKey]))
}

// asked finds the digest in the text of an IncreaseError.
var asked = regexp.MustCompile(`(?m)^to allow them: .*annotation ` + regexp.QuoteMeta(permissions.AcknowledgedKey) + ` of ClusterExtension \S+ to "([^"]+)"`)

// AskedPermissions returns the digest of the permissions that an upgrade asks for, out of the message of the condition that reports it.
func AskedPermissions(message string) (digest string, ok bool) {
	if m := asked.FindStringSubmatch(message); m != nil && m[1] != AcknowledgedAll {
		return m[1], true
	}
	return "", false
}
