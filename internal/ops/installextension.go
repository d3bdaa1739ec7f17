package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of what commands write for their users.
const fieldOwner = client.FieldOwner("fairlead")

// Annotations of a ClusterExtension, as the manager reads them.
const (
	// DependenciesKey set to "true" installs what the operator needs, too.
	DependenciesKey = "operators.fairlead.dev/install-dependencies"
	// OnFailureKey set to OnFailureRollback rolls back to what was installed when an upgrade fails.
	OnFailureKey      = revision.OnFailureKey
	OnFailureRollback = revision.OnFailureRollback
)

// ExtensionOptions says what to install where, by the v1 API.
type ExtensionOptions struct {
	// Name of the ClusterExtension; that of the package when empty.
	Name      string
	Package   string
	Namespace string
	// Version is a version or a range, Channels are those to stay in, Policy is CatalogProvided or SelfCertified. Empty says nothing.
	Version  string
	Channels []string
	Policy   string
	// DefaultChannel is written where no Channels are asked for; an existing ClusterExtension agrees whichever it follows.
	DefaultChannel string
	// Image is that of the bundle, by digest, whatever catalogs have; empty leaves it to them.
	Image string
	// Catalogs are names of ClusterCatalogs, Selector selects them by label; both may be empty.
	Catalogs []string
	Selector *metav1.LabelSelector
	// ServiceAccount of the namespace limits what the extension may do.
	ServiceAccount string
	// Watch are the namespaces that the operator is to watch; none leaves that to the bundle.
	Watch []string
	// Config is the rest of spec.config.inline.
	Config map[string]any
	// CRDSafety is None or Strict; empty says nothing.
	CRDSafety   string
	Annotations map[string]string
	// ProgressDeadlineMinutes is how long a rollout may take before it counts as failed; 0 sets none.
	ProgressDeadlineMinutes int32
	// Adopt lets the extension have objects that exist and have no owner. An existing ClusterExtension that would have to be another one in no other
	// respect gets the annotation for it.
	Adopt bool
	// CreateNamespace creates the namespace where it is missing.
	CreateNamespace bool
	// DryRun lets the API server check the object, and writes nothing.
	DryRun bool
}

// Object is the ClusterExtension that asks for it.
func (o ExtensionOptions) Object() (*olmv1.ClusterExtension, error) {
	e := &olmv1.ClusterExtension{
		TypeMeta:   metav1.TypeMeta{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind},
		ObjectMeta: metav1.ObjectMeta{Name: cmp.Or(o.Name, o.Package), Annotations: maps.Clone(o.Annotations)},
	}
	if o.Image != "" {
		metav1.SetMetaDataAnnotation(&e.ObjectMeta, snapshot.BundleImageKey, o.Image)
	}
	if o.Adopt {
		metav1.SetMetaDataAnnotation(&e.ObjectMeta, revision.AdoptKey, "true")
	}
	e.Spec.Namespace, e.Spec.ProgressDeadlineMinutes = o.Namespace, o.ProgressDeadlineMinutes
	channels := o.Channels
	if len(channels) == 0 && o.DefaultChannel != "" {
		channels = []string{o.DefaultChannel}
	}
	e.Spec.Source = olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{
		PackageName: o.Package, Version: o.Version, Channels: channels, Selector: o.selector(), UpgradeConstraintPolicy: olmv1.UpgradeConstraintPolicy(o.Policy),
	}}
	if o.ServiceAccount != "" {
		e.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: o.ServiceAccount}
	}
	if o.CRDSafety != "" {
		e.Spec.Install = &olmv1.ClusterExtensionInstallConfig{Preflight: &olmv1.PreflightConfig{
			CRDUpgradeSafety: &olmv1.CRDUpgradeSafetyPreflightConfig{Enforcement: olmv1.CRDUpgradeSafetyEnforcement(o.CRDSafety)}}}
	}
	config, err := o.inline()
	if err != nil || len(config) == 0 {
		return e, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("write spec.config.inline: %w", err)
	}
	e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: olmv1.ClusterExtensionConfigTypeInline, Inline: &apiextensionsv1.JSON{Raw: text}}
	return e, nil
}

// inline is the configuration with the namespaces to watch: one of them as watchNamespace, which every implementation knows.
func (o ExtensionOptions) inline() (map[string]any, error) {
	config := maps.Clone(o.Config)
	if len(o.Watch) == 0 {
		return config, nil
	}
	for _, field := range []string{"watchNamespace", "watchNamespaces"} {
		if _, there := config[field]; there {
			return nil, fmt.Errorf("the configuration says %s already: leave that out, or the namespaces to watch", field)
		}
	}
	if config == nil {
		config = map[string]any{}
	}
	if config["watchNamespaces"] = o.Watch; len(o.Watch) == 1 {
		delete(config, "watchNamespaces")
		config["watchNamespace"] = o.Watch[0]
	}
	return config, nil
}

func (o ExtensionOptions) selector() *metav1.LabelSelector {
	s := o.Selector.DeepCopy()
	switch {
	case len(o.Catalogs) == 0:
		return s
	case s == nil:
		s = &metav1.LabelSelector{}
	}
	if len(o.Catalogs) == 1 {
		if s.MatchLabels == nil {
			s.MatchLabels = map[string]string{}
		}
		s.MatchLabels[olmv1.MetadataNameKey] = o.Catalogs[0]
		return s
	}
	s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: olmv1.MetadataNameKey, Operator: metav1.LabelSelectorOpIn, Values: o.Catalogs})
	return s
}

// AskedExtension is what came of asking for an extension.
type AskedExtension struct {
	Extension *olmv1.ClusterExtension
	// Objects are those that are missing, in the order in which they are created.
	Objects []client.Object
	// Created has a line for each object that was created, or would be, and Adopting is true where an existing extension was allowed to adopt, or would be.
	Created  []string
	Adopting bool
	// Notes are what does not stand in the way and should be known.
	Notes []string
}

// PlanExtension finds out what is missing for the package to be installed by the v1 API, and writes nothing. What is missing and not to be created is an
// error that says so.
func PlanExtension(ctx context.Context, c client.Client, o ExtensionOptions) (AskedExtension, error) {
	var a AskedExtension
	e, err := o.Object()
	if err != nil {
		return a, fmt.Errorf("install package %s: %w", o.Package, err)
	}
	a.Extension = e
	there, err := o.existing(ctx, c, &a)
	if err != nil {
		return a, err
	}
	if a.Adopting = there && o.Adopt; a.Adopting { // what it needs is its own matter
		return a, nil
	}
	missing, err := o.missing(ctx, c, &a)
	if err != nil {
		return a, err
	}
	if missing {
		a.Objects = append(a.Objects, &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: o.Namespace}})
	}
	if !there {
		a.Objects = append(a.Objects, e)
	}
	return a, nil
}

// InstallExtension creates what is missing for the package to be installed by the v1 API. What is missing and not to be created is an error that
// says so, before anything is written.
func InstallExtension(ctx context.Context, c client.Client, o ExtensionOptions) (AskedExtension, error) {
	a, err := PlanExtension(ctx, c, o)
	if err != nil {
		return a, err
	}
	if a.Adopting {
		a.Adopting = false
		return a, o.adopt(ctx, c, &a)
	}
	options := []client.CreateOption{fieldOwner}
	if o.DryRun {
		options = append(options, client.DryRunAll)
	}
	for _, object := range a.Objects {
		what := object.GetObjectKind().GroupVersionKind().Kind + " " + object.GetName()
		err := c.Create(ctx, object, options...)
		if apierrors.IsAlreadyExists(err) {
			continue
		}
		if err != nil {
			return a, fmt.Errorf("create %s: %w", what, err)
		}
		a.Created = append(a.Created, what)
	}
	return a, nil
}
