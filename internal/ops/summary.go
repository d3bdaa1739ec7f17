package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Arrival is an operator that was installed.
type Arrival struct {
	Package string
	Version string
}

func (a Arrival) String() string { return strings.TrimSpace(a.Package + " " + a.Version) }

// Summary is what an install has brought.
type Summary struct {
	Arrival
	Namespace string
	// Dependencies were installed for its needs.
	Dependencies []Arrival
}

// String is the summary in one line, without a verb: "guestbook 1.2.0 and its dependency greeter 1.2.0 in namespace operators".
func (s Summary) String() string {
	text := s.Arrival.String()
	switch n := len(s.Dependencies); {
	case n == 1:
		text += " and its dependency " + s.Dependencies[0].String()
	case n > 1:
		names := make([]string, n)
		for i, d := range s.Dependencies {
			names[i] = d.String()
		}
		text += fmt.Sprintf(" and its dependencies %s and %s", strings.Join(names[:n-1], ", "), names[n-1])
	}
	return text + " in namespace " + s.Namespace
}

// SummarizePackage says what the Subscription of a package has brought: its operator, and those for which its plan has created Subscriptions. What
// cannot be read is left out.
func SummarizePackage(ctx context.Context, reader client.Reader, key client.ObjectKey) (Summary, error) {
	s := Summary{Namespace: key.Namespace}
	var sub v1alpha1.Subscription
	if err := reader.Get(ctx, key, &sub); err != nil {
		return s, fmt.Errorf("get Subscription %s: %w", key, err)
	}
	if sub.Spec != nil {
		s.Package = sub.Spec.Package
	}
	var err error
	if s.Version, err = versionOf(ctx, reader, key.Namespace, sub.Status.InstalledCSV); err != nil || sub.Status.InstallPlanRef == nil {
		return s, err
	}
	var plan v1alpha1.InstallPlan
	if err := reader.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: sub.Status.InstallPlanRef.Name}, &plan); err != nil {
		return s, ignoreUnseen(err)
	}
	for _, step := range plan.Status.Plan {
		if step == nil || step.Resource.Kind != v1alpha1.SubscriptionKind || step.Resolving == sub.Status.InstalledCSV {
			continue
		}
		d := Arrival{Package: step.Resolving}
		var made v1alpha1.Subscription
		if err := reader.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: step.Resource.Name}, &made); ignoreUnseen(err) != nil {
			return s, fmt.Errorf("get Subscription %s/%s: %w", key.Namespace, step.Resource.Name, err)
		} else if err == nil && made.Spec != nil {
			d.Package = made.Spec.Package
			if d.Version, err = versionOf(ctx, reader, key.Namespace, step.Resolving); err != nil {
				return s, err
			}
		}
		s.Dependencies = append(s.Dependencies, d)
	}
	return s, nil
}

// versionOf is the version of a ClusterServiceVersion; its name where it cannot be read.
func versionOf(ctx context.Context, reader client.Reader, namespace, name string) (string, error) {
	var csv v1alpha1.ClusterServiceVersion
	if err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &csv); err != nil {
		return name, ignoreUnseen(err)
	}
	return spokenVersion(&csv), nil
}

// spokenVersion is the version of a ClusterServiceVersion; its name where it says none.
func spokenVersion(csv *v1alpha1.ClusterServiceVersion) string {
	if v := csv.Spec.Version.String(); v != "0.0.0" { // which one without spec.version has
		return v
	}
	return csv.Name
}

// ignoreUnseen is nil for what is gone, or not for this user to read.
func ignoreUnseen(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// SummarizeExtension says what a ClusterExtension has brought: its bundle, and the ClusterExtensions that were made for its needs.
func SummarizeExtension(ctx context.Context, reader client.Reader, e *olmv1.ClusterExtension) (Summary, error) {
	s := Summary{Arrival: arrivalOf(e), Namespace: e.Spec.Namespace}
	var list olmv1.ClusterExtensionList
	if err := reader.List(ctx, &list, client.MatchingLabels{DependencyLabel: "true"}); err != nil {
		if apierrors.IsForbidden(err) {
			return s, nil
		}
		return s, fmt.Errorf("list the ClusterExtensions that were installed for the needs of %s: %w", e.Name, err)
	}
	for need := []string{e.Name}; len(need) > 0; need = need[1:] {
		for i := range list.Items {
			d := &list.Items[i]
			if d.Annotations[RequiredByKey] == need[0] && d.Name != e.Name && !slices.Contains(need, d.Name) {
				s.Dependencies = append(s.Dependencies, arrivalOf(d))
				need = append(need, d.Name)
				d.Annotations = nil // it is listed
			}
		}
	}
	return s, nil
}

func arrivalOf(e *olmv1.ClusterExtension) Arrival {
	a := Arrival{Package: e.Name}
	if c := e.Spec.Source.Catalog; c != nil {
		a.Package = c.PackageName
	}
	if e.Status.Install != nil {
		a.Version = e.Status.Install.Bundle.Version
	}
	return a
}
