package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/crds"

	"github.com/blang/semver/v4"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// RefusedError says that nothing was done to the manager of a cluster, why, and what to do.
type RefusedError struct{ Object, Why, Remedy string }

func (e *RefusedError) Error() string { return e.Object + ": " + e.Why + ": " + e.Remedy }

// system is the manager that a cluster has.
type system struct {
	deployment *appsv1.Deployment
	// mine: fairlead system installed it. helm is the release that did, as NAMESPACE/NAME.
	mine bool
	helm string
	// version is that of the program that installed it, where it says so.
	version string
	// options are those that it was installed with, or those that its Deployment shows.
	options SystemOptions
}

// name is how messages call it.
func (s *system) name() string {
	return "Deployment " + client.ObjectKeyFromObject(s.deployment).String()
}

// findSystem returns the manager of a cluster; nil where there is none.
func findSystem(ctx context.Context, c client.Client, namespace string) (*system, error) {
	var all appsv1.DeploymentList
	if err := c.List(ctx, &all, client.MatchingLabels{"app": managerName}); err != nil {
		return nil, fmt.Errorf("find the manager of the cluster: list Deployments of all namespaces: %w", err)
	}
	if len(all.Items) == 0 {
		return nil, nil
	}
	at := max(0, slices.IndexFunc(all.Items, func(d appsv1.Deployment) bool { return d.Namespace == namespace }))
	d := &all.Items[at]
	s := &system{deployment: d, mine: d.Labels[systemLabel] == systemOwner, version: d.Annotations[systemVersion]}
	if release := d.Annotations["meta.helm.sh/release-name"]; release != "" && !s.mine {
		s.helm = d.Annotations["meta.helm.sh/release-namespace"] + "/" + release
	}
	s.options = SystemOptions{Namespace: d.Namespace, Replicas: replicas(d), APIs: []string{"v0", "v1"}, Version: s.version}
	if kept := d.Annotations[systemOptions]; s.mine && kept != "" {
		if err := json.Unmarshal([]byte(kept), &s.options); err != nil {
			return nil, fmt.Errorf("read how %s was installed: its annotation %s is not what fairlead system wrote: %w; remove the annotation, and say with flags what it is to be", s.name(), systemOptions, err)
		}
	} else {
		if apis := argument(d, "apis"); apis != "" {
			s.options.APIs = strings.Split(apis, ",")
		}
		s.options.Console = slices.Contains(arguments(d), "--console")
	}
	if running := replicas(d); running > 0 {
		s.options.Replicas = running // scaled by hand
	}
	return s, nil
}

// arguments are those of the first container of a Deployment.
func arguments(d *appsv1.Deployment) []string {
	if len(d.Spec.Template.Spec.Containers) == 0 {
		return nil
	}
	return d.Spec.Template.Spec.Containers[0].Args
}

// where refuses a manager that is in another namespace, or that Helm has installed.
func (s *system) where(namespace, verb string) error {
	if s.deployment.Namespace != namespace {
		return &RefusedError{s.name(), "the manager of this cluster is in namespace " + s.deployment.Namespace + ", and not in " + namespace,
			fmt.Sprintf("fairlead system %s --manager-namespace %s", verb, s.deployment.Namespace)}
	}
	if s.helm == "" {
		return nil
	}
	at, release, _ := strings.Cut(s.helm, "/")
	helm := fmt.Sprintf("helm upgrade %s config/chart -n %s", release, at)
	if verb == "uninstall" {
		helm = fmt.Sprintf("helm uninstall %s -n %s", release, at)
	}
	return &RefusedError{s.name(), "the Helm release " + s.helm + " has installed it, and would undo what is changed here", helm}
}

// noRivals refuses to work on an API that another lifecycle manager works on. What could not be read is returned as notes.
func noRivals(ctx context.Context, c client.Client, o SystemOptions) (notes []string, _ error) {
	exam := rivalExam{&examiner{Examination: Examination{Client: c, Namespace: o.Namespace, Now: time.Now}}}
	rivals := exam.rivals(ctx)
	for _, f := range exam.rivalsRead.Findings {
		notes = append(notes, f.Object+": "+f.Problem)
	}
	notes = append(notes, exam.rivalsRead.Notes...)
	for _, r := range rivals {
		if !slices.Contains(o.APIs, r.api) {
			continue
		}
		who := r.object
		if r.holder != "" {
			who = r.holder + ", by " + r.object
		}
		remedy := twoManagers + r.stop
		if free := unmanaged(rivals); free != "" {
			remedy += "; or install the manager for the other API alone: --apis " + free
		}
		return notes, &RefusedError{who, "another lifecycle manager works on the " + r.api + " API", remedy}
	}
	return notes, nil
}

// downgraded says what a downgrade from the installed manager to this program would lose; empty where it is none. Definitions tell where versions do not.
func downgraded(ctx context.Context, c client.Client, installed, mine string) ([]string, error) {
	var lost []string
	if from, to, both := versions(installed, mine); both && to.LT(from) {
		lost = append(lost, fmt.Sprintf("the manager is of version %s, and this program of %s: what it has learnt since is not there any more", installed, mine))
	}
	shipped, err := crds.All()
	if err != nil {
		return nil, err
	}
	for _, have := range shipped {
		var there apiextensionsv1.CustomResourceDefinition
		if err := c.Get(ctx, client.ObjectKey{Name: have.Name}, &there); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("compare CustomResourceDefinition %s with that of this program: %w", have.Name, err)
		}
		for i := range there.Spec.Versions {
			lost = append(lost, dropped(have, &there.Spec.Versions[i])...)
		}
	}
	return lost, nil
}

// dropped are the fields of a version of a definition that objects would lose with another definition.
func dropped(have *apiextensionsv1.CustomResourceDefinition, there *apiextensionsv1.CustomResourceDefinitionVersion) []string {
	at := slices.IndexFunc(have.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == there.Name })
	if at < 0 {
		return []string{fmt.Sprintf("CustomResourceDefinition %s: version %s, which is not served any more", have.Name, there.Name)}
	}
	if there.Schema == nil || have.Spec.Versions[at].Schema == nil {
		return nil
	}
	var lacks []string
	lacking("", there.Schema.OpenAPIV3Schema, have.Spec.Versions[at].Schema.OpenAPIV3Schema, &lacks)
	if len(lacks) == 0 {
		return nil
	}
	slices.Sort(lacks)
	more := ""
	if len(lacks) > maxLacking {
		more = fmt.Sprintf(" and %d more", len(lacks)-maxLacking)
	}
	return []string{fmt.Sprintf("CustomResourceDefinition %s: %s%s of version %s, which the API server drops from objects when they are written", have.Name, strings.Join(lacks[:min(len(lacks), maxLacking)], ", "), more, there.Name)}
}

// versions are two versions, where both are ones that can be compared.
func versions(one, other string) (a, b semver.Version, both bool) {
	a, err := semver.Parse(strings.TrimPrefix(one, "v"))
	b, again := semver.Parse(strings.TrimPrefix(other, "v"))
	return a, b, errors.Join(err, again) == nil
}

// sameVersion reports whether an installation is continued rather than upgraded.
func (s *system) sameVersion(mine string) bool { return s.mine && cmp.Or(s.version, mine) == mine }
