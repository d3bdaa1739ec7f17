package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/rollout"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SystemChange is an installation or an upgrade of the manager of a cluster that was judged, and is not begun.
type SystemChange struct {
	Options SystemOptions
	// From is the version that is there; empty where there is none, or it does not say.
	From string
	// Objects are what is applied, in this order, and Goes those of an earlier installation that are of no use any more.
	Objects []*unstructured.Unstructured
	Goes    []Ref
	Notes   []string

	client client.Client
}

// SystemObject is an object of an installation, and what was done with it.
type SystemObject struct {
	Ref
	Outcome string `json:"outcome"`
}

// SystemResult is what an installation or an upgrade has done.
type SystemResult struct {
	Namespace string         `json:"namespace"`
	Image     string         `json:"image"`
	From      string         `json:"from,omitempty"`
	Version   string         `json:"version,omitempty"`
	Objects   []SystemObject `json:"objects"`
	Removed   []Ref          `json:"removed,omitempty"`
	// Available says that the manager runs; it is not where no one has waited for it.
	Available bool `json:"available"`
}

// InstallSystem judges the installation of a manager where there is none, or where one of the same version was begun.
func InstallSystem(ctx context.Context, c client.Client, o SystemOptions) (*SystemChange, error) {
	found, err := findSystem(ctx, c, o.Namespace)
	if err != nil {
		return nil, err
	}
	if found != nil {
		if err := found.where(o.Namespace, "upgrade"); err != nil {
			return nil, err
		}
		if !found.sameVersion(o.Version) {
			is := "of version " + found.version
			if found.version == "" {
				is = "by other means"
			}
			return nil, &RefusedError{found.name(), "a manager is installed already, " + is, "fairlead system upgrade"}
		}
	}
	return replacing(ctx, c, o, found)
}

// UpgradeSystem judges an upgrade of the manager that is there. The options are those that it was installed with, changed as the caller does.
func UpgradeSystem(ctx context.Context, c client.Client, namespace string, allowDowngrade bool, change func(*SystemOptions)) (*SystemChange, error) {
	found, err := findSystem(ctx, c, namespace)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, &RefusedError{"the cluster", "no manager is installed: there is no Deployment with the label app=" + managerName + " in any namespace", "fairlead system install"}
	}
	if err := found.where(namespace, "upgrade"); err != nil {
		return nil, err
	}
	o := found.options
	change(&o)
	lost, err := downgraded(ctx, c, found.version, o.Version)
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 && !allowDowngrade {
		return nil, &RefusedError{found.name(), "this would be a downgrade, which loses: " + strings.Join(lost, "; "), "use a newer fairlead; or --allow-downgrade, when no object has these fields"}
	}
	s, err := replacing(ctx, c, o, found)
	if err != nil {
		return nil, err
	}
	for _, text := range lost {
		s.Notes = append(s.Notes, "downgrade: "+text)
	}
	return s, nil
}

// replacing is an installation that may be begun, in the place of what was found.
func replacing(ctx context.Context, c client.Client, o SystemOptions, found *system) (*SystemChange, error) {
	objects, err := SystemManifests(o)
	if err != nil {
		return nil, err
	}
	s := &SystemChange{Options: o, Objects: objects, client: c}
	if s.Notes, err = noRivals(ctx, c, o); err != nil {
		return nil, err
	}
	if found != nil {
		s.From = found.version
		s.Notes = append(s.Notes, found.lostArguments(objects)...)
	}
	if s.Goes, err = s.leftovers(ctx); err != nil {
		return nil, err
	}
	return s, s.withoutSecondGroups(ctx)
}

// lostArguments are notes about flags that were added to the Deployment by hand, which the manifests replace.
func (s *system) lostArguments(objects []*unstructured.Unstructured) (notes []string) {
	known := arguments(deploymentOf(objects))
	as := s.options
	as.Image = "as-it-was"
	if was, err := SystemManifests(as); err == nil { // what it was installed with is not by hand
		known = slices.Concat(known, arguments(deploymentOf(was)))
	}
	has := func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.ContainsFunc(known, func(other string) bool { return other == name || strings.HasPrefix(other, name+"=") })
	}
	for _, arg := range arguments(s.deployment) {
		if strings.HasPrefix(arg, "-") && !has(arg) {
			notes = append(notes, fmt.Sprintf("%s has the flag %s, which goes; to keep it: --manager-arg=%[2]s", s.name(), arg))
		}
	}
	return notes
}

// deploymentOf is the manager among objects; an empty one where there is none.
func deploymentOf(objects []*unstructured.Unstructured) *appsv1.Deployment {
	for _, o := range objects {
		d := &appsv1.Deployment{}
		if o.GetKind() == "Deployment" && runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d) == nil {
			return d
		}
	}
	return &appsv1.Deployment{}
}

// withoutSecondGroups leaves out OperatorGroups of namespaces that have another one: with two, no operator is installed there.
func (s *SystemChange) withoutSecondGroups(ctx context.Context) error {
	var failed error
	s.Objects = slices.DeleteFunc(s.Objects, func(o *unstructured.Unstructured) bool {
		if o.GetKind() != operatorsv1.OperatorGroupKind || failed != nil {
			return false
		}
		var groups operatorsv1.OperatorGroupList
		if err := s.client.List(ctx, &groups, client.InNamespace(o.GetNamespace())); err != nil {
			if !meta.IsNoMatchError(err) && !rollout.IsUnknownKind(err) {
				failed = fmt.Errorf("read the OperatorGroups of namespace %s: %w", o.GetNamespace(), err)
			}
			return false
		}
		for i := range groups.Items {
			if groups.Items[i].Name != o.GetName() {
				s.Notes = append(s.Notes, fmt.Sprintf("namespace %s has OperatorGroup %s: %s is not made, because with two no operator is installed there", o.GetNamespace(), groups.Items[i].Name, o.GetName()))
				return true
			}
		}
		return false
	})
	return failed
}

// prunableKinds are those of which an earlier installation may have had objects that this one has not.
var prunableKinds = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}, {Version: "v1", Kind: "Service"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingAdmissionPolicy"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	{Version: "v1", Kind: "ServiceAccount"},
}

// installedObjects are the objects that fairlead system has made, in the order in which they go: what uses others first.
func installedObjects(ctx context.Context, c client.Client) (all []Ref, _ error) {
	for _, kind := range prunableKinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := c.List(ctx, list, client.MatchingLabels{systemLabel: systemOwner})
		if meta.IsNoMatchError(err) {
			continue // an older Kubernetes has no such policies
		}
		if err != nil {
			return nil, fmt.Errorf("find what fairlead system has installed: list objects of kind %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			apiVersion, name := kind.ToAPIVersionAndKind()
			all = append(all, Ref{APIVersion: apiVersion, Kind: name, Namespace: list.Items[i].Namespace, Name: list.Items[i].Name})
		}
	}
	return all, nil
}

// leftovers are objects of an earlier installation that this one does not have.
func (s *SystemChange) leftovers(ctx context.Context) ([]Ref, error) {
	all, err := installedObjects(ctx, s.client)
	return slices.DeleteFunc(all, func(r Ref) bool {
		return slices.ContainsFunc(s.Objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == r.Kind && o.GetNamespace() == r.Namespace && o.GetName() == r.Name
		})
	}), err
}

const (
	// phaseLimit is how long objects of one phase may take until those after it can be applied.
	phaseLimit = 2 * time.Minute
	// systemPoll is how often what is waited for is checked.
	systemPoll = 300 * time.Millisecond
)

// Run applies the objects, waits until the manager is available unless wait is 0, and removes what is of no use any more. done is called with each thing that
// is done, and waiting with what is waited for.
func (s *SystemChange) Run(ctx context.Context, wait time.Duration, done, waiting func(string)) (*SystemResult, error) {
	result := &SystemResult{Namespace: s.Options.Namespace, Image: s.Options.Image, From: s.From, Version: s.Options.Version}
	for i, phase := range systemPhases {
		var objects []*unstructured.Unstructured
		for _, o := range s.Objects {
			if phaseOfKind(o.GetKind()) == i {
				objects = append(objects, o)
			}
		}
		outcomes, err := s.apply(ctx, phase.name, objects, waiting)
		result.Objects = append(result.Objects, outcomes...)
		if err != nil {
			return result, err
		}
		done(phase.name + ": " + counted(outcomes))
	}
	if wait > 0 {
		waits, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		if err := s.available(waits, waiting); err != nil {
			return result, err
		}
		result.Available = true
		done(fmt.Sprintf("Deployment %s/%s is available", s.Options.Namespace, managerName))
	}
	goes, err := s.leftovers(ctx) // as they are now
	if err != nil {
		return result, err
	}
	for _, ref := range goes {
		if err := client.IgnoreNotFound(s.client.Delete(ctx, ref.Object())); err != nil {
			return result, fmt.Errorf("remove %s %s, which this version has no use for: %w", ref.Kind, ref.Name, err)
		}
		result.Removed = append(result.Removed, ref)
		done(fmt.Sprintf("%s %s is removed: this version has no use for it", ref.Kind, ref.Name))
	}
	return result, nil
}

// counted says what was done with objects, as in "2 created, 3 unchanged".
func counted(objects []SystemObject) string {
	var texts []string
	for _, outcome := range []string{"created", "configured", "unchanged"} {
		n := 0
		for _, o := range objects {
			if o.Outcome == outcome {
				n++
			}
		}
		if n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// apply brings the objects of a phase about, and waits until those after it can be applied.
func (s *SystemChange) apply(ctx context.Context, name string, objects []*unstructured.Unstructured, waiting func(string)) ([]SystemObject, error) {
	ctx, cancel := context.WithTimeout(ctx, phaseLimit)
	defer cancel()
	engine := rollout.Engine{Client: s.client, FieldManager: systemOwner}
	phase := rollout.Phase{Name: name}
	for _, o := range objects {
		phase.Objects = append(phase.Objects, systemObject(o))
	}
	first := map[rollout.Ref]string{}
	for {
		run := engine.Apply(ctx, []rollout.Phase{phase})
		var all []SystemObject
		for _, o := range run.Phases[0].Objects {
			if outcome := strings.ToLower(o.Outcome.String()); first[o.Ref] == "" && o.Err == nil && o.Outcome != rollout.NotAttempted {
				first[o.Ref] = outcome
			}
			apiVersion, kind := o.Ref.ToAPIVersionAndKind()
			all = append(all, SystemObject{Ref{APIVersion: apiVersion, Kind: kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name}, cmp.Or(first[o.Ref], strings.ToLower(o.Outcome.String()))})
		}
		err := run.Err()
		if err == nil && run.Complete() {
			return all, nil
		}
		waits := safetext.Sample(run.Waiting()[:min(len(run.Waiting()), 1)], len(run.Waiting()), "; ")
		if err != nil && !justDefined(err, objects) {
			return all, fmt.Errorf("apply %s: %w", name, explainPolicies(err))
		} else if err != nil {
			waits = err.Error()
		}
		waiting(name + ": " + waits)
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("apply %s: it was not done within %s: %s; the same command continues from here", name, phaseLimit, waits)
		case <-time.After(systemPoll):
		}
	}
}

// systemObject says how an object is applied. What users change once it is there is left as they have it.
func systemObject(o *unstructured.Unstructured) rollout.Object {
	object := rollout.Object{Wanted: o, Owner: "fairlead system"}
	switch o.GetKind() {
	case "CustomResourceDefinition":
		object.Probe = rollout.Established
	case "Namespace", "OLMConfig", operatorsv1.OperatorGroupKind:
		object.Policy = rollout.CreateOnly
	}
	return object
}

// justDefined reports whether an error is that the API server does not tell yet of a kind whose definition it has: it serves it somewhat earlier.
func justDefined(err error, objects []*unstructured.Unstructured) bool {
	return rollout.IsUnknownKind(err) && slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == operatorsv1.OperatorGroupKind })
}

// explainPolicies says what to do on a cluster that has no admission policies.
func explainPolicies(err error) error {
	var unknown *rollout.UnknownKindError
	if errors.As(err, &unknown) && strings.HasPrefix(unknown.Ref.Kind, "ValidatingAdmissionPolicy") {
		return fmt.Errorf("%w; Kubernetes 1.30 or later has them. With an older one, install with Helm and --set policies.serviceAccounts=false --set policies.noForegroundDeletion=false, and read docs/permissions-v1.md", err)
	}
	return err
}

// available waits until the Deployment of the manager runs as it was applied. When the context ends, or its pods cannot run, the error says why.
func (s *SystemChange) available(ctx context.Context, waiting func(string)) error {
	wanted := deploymentOf(s.Objects)
	key := client.ObjectKeyFromObject(wanted)
	for last := "nothing is known of it yet"; ; {
		live := &appsv1.Deployment{}
		err := s.client.Get(ctx, key, live)
		if err == nil {
			health := rollout.Judge{Reader: s.client, Clock: clock.RealClock{}, StableAfter: rollout.DefaultStableAfter}.Deployment(ctx, wanted, live)
			if health.State == rollout.Healthy {
				return nil
			}
			last = health.Message
			if health.State == rollout.Stuck || health.State == rollout.CrashLooping {
				return s.unavailable(last)
			}
			waiting(fmt.Sprintf("Deployment %s: %s", key, last))
		} else if ctx.Err() == nil {
			return fmt.Errorf("wait for Deployment %s: %w", key, err)
		}
		select {
		case <-ctx.Done():
			return s.unavailable(last)
		case <-time.After(systemPoll):
		}
	}
}

// unavailable says why the manager does not run, and what to do.
func (s *SystemChange) unavailable(why string) error {
	return fmt.Errorf("deployment %s/%s is applied, and is not available: %s; see what its pods say: kubectl -n %[1]s logs -l app=%[2]s --tail=50; then correct the cause and give the same command again, which continues from here",
		s.Options.Namespace, managerName, why)
}
