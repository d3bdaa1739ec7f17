package clusterserviceversion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"
)

// certSuffix is what the name of a serving certificate's Secret has after that of the Service.
const certSuffix = "-cert"

// hooks are the webhooks of a CSV: as they are to be registered, what is registered for it besides, and what differs.
type hooks struct {
	configurations []client.Object
	conversions    []bundle.Conversion
	surplus        []client.Object
}

// hookDrift is what differs of the webhooks.
type hookDrift struct {
	changes     []change
	conversions []bundle.Conversion
}

// checkWebhooks checks the webhook descriptions against the rules and against the rest of the CSV.
func checkWebhooks(csv *v1alpha1.ClusterServiceVersion) error {
	names := map[string]bool{}
	serving := bundle.ServingDeployments(csv)
	for _, description := range csv.Spec.WebhookDefinitions {
		if names[description.GenerateName] {
			return fmt.Errorf("webhook descriptions repeat the generateName %q: give each its own", description.GenerateName)
		}
		names[description.GenerateName] = true
		if !slices.Contains(serving, description.DeploymentName) {
			return fmt.Errorf("webhook %s: deploymentName %q is not among the deployments of the install strategy", description.GenerateName, description.DeploymentName)
		}
		if err := bundle.CheckWebhookRules(description); err != nil {
			return err
		}
	}
	_, err := bundle.Conversions(csv, bundle.WebhookOptions{})
	return err
}

// hooks works out the webhooks. A configuration that is registered under another name keeps it.
func (o *observer) hooks(ctx context.Context, members membership, certificates certificates) (*hooks, error) {
	live, err := o.registered(ctx)
	if err != nil {
		return nil, err
	}
	out := &hooks{}
	if len(o.csv.Spec.WebhookDefinitions) > 0 {
		options := bundle.WebhookOptions{NamespaceSelector: members.webhookNamespaces(), Certs: certificates.bundles(func(c *certificate) []byte { return c.trusted })}
		validating, err1 := bundle.ValidatingWebhooks(o.csv, options)
		mutating, err2 := bundle.MutatingWebhooks(o.csv, options)
		conversions, err3 := bundle.Conversions(o.csv, options)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, refused(err)
		}
		out.conversions = conversions
		for _, w := range validating {
			out.configurations = append(out.configurations, w)
		}
		for _, w := range mutating {
			out.configurations = append(out.configurations, w)
		}
	}
	out.surplus = keepNames(out.configurations, live)
	// What the CSV described before: nothing converts those CRDs any more.
	former := conversions{o}
	secrets, err := former.formerCertificates(ctx)
	if err != nil {
		return nil, err
	}
	for _, secret := range secrets {
		crds, err := former.convertedThrough(ctx, strings.TrimSuffix(secret, certSuffix))
		if err != nil {
			return nil, err
		}
		for _, crd := range crds {
			out.conversions = append(out.conversions, bundle.Conversion{CRD: crd, Spec: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}})
		}
	}
	return out, nil
}

// keepNames gives each desired configuration the name under which it is registered, found by the label with its
// generateName, and returns the registered ones that do not belong to any.
func keepNames(desired, live []client.Object) (surplus []client.Object) {
	taken := map[client.Object]bool{}
	take := func(w client.Object, fits func(client.Object) bool) bool {
		for _, l := range live {
			if !taken[l] && kindOf(l) == kindOf(w) && fits(l) {
				taken[l] = true
				w.SetName(l.GetName())
				return true
			}
		}
		return false
	}
	var rest []client.Object
	for _, w := range desired {
		if !take(w, func(l client.Object) bool { return l.GetName() == w.GetName() }) {
			rest = append(rest, w)
		}
	}
	for _, w := range rest {
		generateName := w.GetLabels()[v1alpha1.WebhookGenerateNameLabel]
		take(w, func(l client.Object) bool { return l.GetLabels()[v1alpha1.WebhookGenerateNameLabel] == generateName })
	}
	for _, l := range live {
		if !taken[l] {
			surplus = append(surplus, l)
		}
	}
	return surplus
}

// hookDrift compares the webhooks with what is registered.
func (o *observer) hookDrift(ctx context.Context, h *hooks) (out hookDrift, err error) {
	if out.changes, err = o.drift(ctx, h.configurations); err != nil {
		return out, err
	}
	for _, object := range h.surplus {
		out.changes = append(out.changes, change{remove: object})
	}
	for _, desired := range h.conversions {
		crd, err := o.crd(ctx, desired.CRD)
		if err != nil {
			return out, err
		}
		if crd != nil && !equality.Semantic.DeepEqual(crd.Spec.Conversion, desired.Spec) { // a CRD that is gone has nothing to convert
			out.conversions = append(out.conversions, desired)
		}
	}
	return out, nil
}

// finding names the first difference.
func (d hookDrift) finding() finding {
	switch {
	case len(d.changes) > 0:
		return seen(d.changes[0].String())
	case len(d.conversions) > 0 && d.conversions[0].GenerateName == "":
		return seen(fmt.Sprintf("CRD %s is still converted by a webhook that is described no more", d.conversions[0].CRD))
	case len(d.conversions) > 0:
		return seen(fmt.Sprintf("CRD %s is not converted by webhook %s", d.conversions[0].CRD, d.conversions[0].GenerateName))
	}
	return seenNot
}

// answered leaves out the webhooks that no server would answer yet, of those that are new or lead to another Service than before, and returns
// why. A webhook that does not answer stops every client that works with what it is asked about.
func (o servers) answered(ctx context.Context, changes []change) ([]change, error) {
	var out []change
	var errs []error
	for _, c := range changes {
		leads := admissionService(c.apply)
		if leads == nil {
			out = append(out, c)
			continue
		}
		live, err := o.likeThis(ctx, c.apply)
		if err != nil {
			return nil, err
		}
		was := admissionService(live)
		// The author of the CSV may run no pods of the Deployment behind a Service: then another client scales it up, some time.
		runsNoPods := slices.ContainsFunc(o.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, func(d v1alpha1.StrategyDeploymentSpec) bool {
			return bundle.ServingServiceName(d.Name) == leads.Name && d.Spec.Replicas != nil && *d.Spec.Replicas == 0
		})
		if !runsNoPods && (was == nil || was.Namespace != leads.Namespace || was.Name != leads.Name) {
			if err := o.answers(ctx, key(leads.Namespace, leads.Name), fmt.Sprintf("register %s %s", kindOf(c.apply), c.apply.GetName()), "it is not asked"); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		out = append(out, c)
	}
	return out, errors.Join(errs...)
}

// admissionService is the Service that a webhook configuration leads to; nil when there is none.
func admissionService(o client.Object) *admissionv1.ServiceReference {
	switch configuration := o.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		if len(configuration.Webhooks) > 0 {
			return configuration.Webhooks[0].ClientConfig.Service
		}
	case *admissionv1.MutatingWebhookConfiguration:
		if len(configuration.Webhooks) > 0 {
			return configuration.Webhooks[0].ClientConfig.Service
		}
	}
	return nil
}

// conversionsOf are the conversion webhooks of a CSV for a CRD.
func conversionsOf(csv *v1alpha1.ClusterServiceVersion, name string) []v1alpha1.WebhookDescription {
	var out []v1alpha1.WebhookDescription
	for _, d := range csv.Spec.WebhookDefinitions {
		if d.Type == v1alpha1.ConversionWebhook && slices.Contains(d.ConversionCRDs, name) {
			out = append(out, d)
		}
	}
	return out
}

// conversions observe what converts the CRDs of a CSV.
type conversions struct{ *observer }

// convertedElsewhere refuses to convert a CRD that a CSV of another namespace converts, or, while none does, that an older one is about to
// convert. That a CSV describes a conversion is not enough: it may never have been installed.
func (o conversions) convertedElsewhere(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition) error {
	converter := crd.ConverterOf(live.Spec.Conversion)
	if converter.Namespace == o.csv.Namespace {
		return nil
	}
	all, err := o.providers(ctx, live.Name)
	if err != nil {
		return err
	}
	held := func(is string, by *v1alpha1.ClusterServiceVersion) error {
		return refused(fmt.Errorf("CRD %s %s converted by ClusterServiceVersion %s, which was there first: a CRD has one conversion webhook in the cluster; delete one of the two",
			live.Name, is, client.ObjectKeyFromObject(by)))
	}
	var next *v1alpha1.ClusterServiceVersion
	for i := range all {
		other := &all[i]
		// The Deployments of one that is stopped were deleted because of a competing one.
		stopped := other.Status.Phase == toFailed && slices.Contains(having(v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs), other.Status.Reason)
		if other.Namespace == o.csv.Namespace || !other.DeletionTimestamp.IsZero() || stopped {
			continue
		}
		theirs := conversionsOf(other, live.Name)
		if slices.ContainsFunc(theirs, func(d v1alpha1.WebhookDescription) bool {
			return converter.NamespacedName == key(other.Namespace, bundle.ServingServiceName(d.DeploymentName))
		}) {
			return held("is", other)
		}
		older := cmp.Or(other.CreationTimestamp.Compare(o.csv.CreationTimestamp.Time), cmp.Compare(other.Namespace, o.csv.Namespace)) < 0
		if older && installs(other) && len(theirs) > 0 {
			next = other
		}
	}
	if next != nil {
		return held("is to be", next)
	}
	return nil
}

// mayConvert refuses to redirect the conversion of a CRD that no InstallPlan brought for this ClusterServiceVersion: who converts a CRD reads and
// changes every object of it, in all namespaces. In a group with an account, the account must be able to patch the CRD itself, unless the CRD is of this
// namespace alone: a plan of the namespace created it for this operator, and no operator of another namespace brought it as well. To join by an equal
// definition, or to be allowed to adopt the CRD, gives no right to its conversion, also when the other operators are gone. A conversion that leads here already is none to redirect.
func (o conversions) mayConvert(ctx context.Context, members membership, live *apiextensionsv1.CustomResourceDefinition, desired bundle.Conversion, installer func(context.Context) (client.Client, error)) error {
	if crd.ConverterOf(live.Spec.Conversion).SameService(crd.ConverterOf(desired.Spec)) {
		return nil
	}
	bringers := tenancy.Bringers(live)
	brought := slices.Contains(bringers, key(o.csv.Namespace, o.csv.Name))
	if !brought && !tenancy.MayAdopt(live, o.csv.Namespace) {
		return refused(fmt.Errorf("CRD %s is not converted by this operator, because no InstallPlan brought the CRD for ClusterServiceVersion %s: put the CRD into its bundle, or let operators of the namespace "+
			"adopt it: kubectl annotate crd %s %s=%s", live.Name, o.name(), live.Name, v1alpha1.AdoptableByAnnotation, o.csv.Namespace))
	}
	group, err := members.decider(o.csv.Namespace)
	if err != nil || group.Spec.ServiceAccountName == "" {
		return err
	}
	why := "was not created by an InstallPlan of this namespace for this operator"
	if brought && tenancy.Origin(live, "") == o.csv.Namespace {
		other, err := o.broughtElsewhere(ctx, bringers)
		if err != nil || other == (types.NamespacedName{}) {
			return err
		}
		why = fmt.Sprintf("is also of ClusterServiceVersion %s", other)
	}
	as, err := installer(ctx)
	if err != nil {
		return err
	}
	err = crd.Convert(ctx, as, live.Name, desired.Spec, client.DryRunAll, fieldManager)
	switch {
	case rollout.IsAuthorized(err):
		return nil // what else it answers is for the write itself to report
	case apierrors.IsForbidden(err):
		return refused(fmt.Errorf("CRD %s %s, so converting it takes an account that may patch it: %w%s", live.Name, why, err, members.installedAs()))
	}
	return fmt.Errorf("ask whether the account of the group may convert CRD %s: %w", live.Name, err)
}

// broughtElsewhere is a ClusterServiceVersion of another namespace that brought a CRD and exists; zero is none.
func (o conversions) broughtElsewhere(ctx context.Context, bringers []types.NamespacedName) (types.NamespacedName, error) {
	for _, by := range bringers {
		if by.Namespace == o.csv.Namespace {
			continue
		}
		other := &v1alpha1.ClusterServiceVersion{}
		err := o.live.Get(ctx, by, other)
		switch {
		case apierrors.IsNotFound(err) || err == nil && other.IsCopied():
		case err != nil && !apierrors.IsForbidden(err): // one that cannot be seen is assumed to exist
			return types.NamespacedName{}, fmt.Errorf("read ClusterServiceVersion %s, which brought the same CRD: %w", by, err)
		default:
			return by, nil
		}
	}
	return types.NamespacedName{}, nil
}

// formerServing are the Services and certificates of Deployments that serve nothing any more. They stay until the operator runs without them:
// its old pods are asked for so long. A Secret goes after its Service, because it distinguishes the Service from one that the bundle
// brought along.
func (o composer) formerServing(ctx context.Context) ([]client.Object, error) {
	if o.csv.Status.Phase != toSucceeded {
		return nil, nil
	}
	former := conversions{o.observer}
	secrets, err := former.formerCertificates(ctx)
	if err != nil {
		return nil, err
	}
	var out []client.Object
	for _, secret := range secrets {
		name := strings.TrimSuffix(secret, certSuffix)
		service, err := read[*corev1.Service](ctx, o.cache, key(o.csv.Namespace, name))
		if err != nil {
			return nil, err
		}
		used, err := former.convertedThrough(ctx, name)
		if err != nil {
			return nil, err
		}
		switch {
		case len(used) > 0:
			// The conversion of the CRDs ends first, see hooks.
		case service != nil && ownedBy(service, o.csv) && hasOwner(service, o.csv.UID) && service.DeletionTimestamp.IsZero():
			out = append(out, service)
		default:
			out = append(out, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.csv.Namespace, Name: secret}})
		}
	}
	return out, nil
}

// formerCertificates are the names of the Secrets with certificates that were made for the CSV and that none of its Deployments serves with.
func (o conversions) formerCertificates(ctx context.Context) ([]string, error) {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := list(ctx, o.cache, secrets, "the serving certificates of ClusterServiceVersion "+o.name(), client.InNamespace(o.csv.Namespace), client.MatchingLabels(bundle.OwnerLabels(o.csv)))
	if err != nil {
		return nil, err
	}
	serving := map[string]bool{}
	for _, deployment := range bundle.ServingDeployments(o.csv) {
		serving[bundle.ServingSecretName(deployment)] = true
	}
	var out []string
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		_, certificate := secret.Annotations[v1alpha1.CAHashAnnotation]
		if certificate && !serving[secret.Name] && hasOwner(secret, o.csv.UID) && strings.HasSuffix(secret.Name, bundle.ServingSecretName("")) {
			out = append(out, secret.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// convertedThrough are the owned CRDs that a Service of the CSV converts although no webhook describes that any more. Without the
// Service their objects could not be read.
func (o conversions) convertedThrough(ctx context.Context, service string) ([]string, error) {
	var out []string
	for _, owned := range o.csv.Spec.CustomResourceDefinitions.Owned {
		live, err := o.crd(ctx, owned.Name)
		if err != nil {
			return nil, err
		}
		if live != nil && len(conversionsOf(o.csv, owned.Name)) == 0 && crd.ConverterOf(live.Spec.Conversion).NamespacedName == key(o.csv.Namespace, service) {
			out = append(out, owned.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
