package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ExtensionChange is what is to be different about a ClusterExtension. Nil fields stay as they are; empty ones remove a request.
type ExtensionChange struct {
	Version   *string
	Channels  *[]string
	Policy    *string
	CRDSafety *string
	// Acknowledge is the digest of the permissions that are agreed to.
	Acknowledge *string
	// Image is that of the bundle, by digest; empty leaves it to the catalogs.
	Image *string
	// Rollback sets whether the extension is rolled back when a rollout fails; nil leaves that as it is.
	Rollback *bool
	// ProgressDeadlineMinutes is how long a rollout may take before it counts as failed, 0 without limit; nil leaves that as it is, but for an
	// extension that begins to go back: it has revision.RollbackDeadlineMinutes then, where it had none.
	ProgressDeadlineMinutes *int32
	// Resume is the version to ask for again when Version is nil; nil, or what returns nil, leaves the version as it is.
	Resume func(*olmv1.ClusterExtension) *string
	// Annotations are to be so; empty ones are removed.
	Annotations func(*olmv1.ClusterExtension) map[string]string
	// DryRun lets the API server check the change, and writes nothing.
	DryRun bool
}

// ChangeExtension changes what a ClusterExtension asks for, and returns what has changed, a line each. It begins again when another client, as
// its controller does, writes the object in between.
func ChangeExtension(ctx context.Context, c client.Client, name string, change ExtensionChange) (e *olmv1.ClusterExtension, said []string, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		e, said, err = changeExtension(ctx, c, name, change)
		return err
	})
	return e, said, err
}

func changeExtension(ctx context.Context, c client.Client, name string, change ExtensionChange) (*olmv1.ClusterExtension, []string, error) {
	live := &olmv1.ClusterExtension{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, live); err != nil {
		return nil, nil, fmt.Errorf("read ClusterExtension %s: %w", name, err)
	}
	if live.Spec.Source.Catalog == nil {
		return nil, nil, &messages.AskedError{Lack: messages.NotNow, Text: fmt.Sprintf("change ClusterExtension %s: it has no spec.source.catalog, and so nothing that can be chosen from", name)}
	}
	wanted := live.DeepCopy()
	said := change.make(wanted)
	if len(said) == 0 {
		return live, nil, nil
	}
	options := []client.PatchOption{fieldOwner}
	if change.DryRun {
		options = append(options, client.DryRunAll)
	}
	if err := c.Patch(ctx, wanted, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}), options...); err != nil {
		return nil, nil, fmt.Errorf("change ClusterExtension %s: %w", name, err)
	}
	return wanted, said, nil
}

// On is what a ClusterExtension would be with the change, and what would be different, a line each. Nothing is written.
func (change ExtensionChange) On(e *olmv1.ClusterExtension) (changed *olmv1.ClusterExtension, said []string) {
	changed = e.DeepCopy()
	if changed.Spec.Source.Catalog == nil {
		return changed, nil
	}
	return changed, change.make(changed)
}

func (change ExtensionChange) make(e *olmv1.ClusterExtension) []string {
	var said []string
	say := func(field, before, after string) {
		said = append(said, fmt.Sprintf("%s: %s -> %s", field, cmp.Or(before, nothing), cmp.Or(after, nothing)))
	}
	text := func(field string, at, to *string) {
		if to != nil && *at != *to {
			say(field, *at, *to)
			*at = *to
		}
	}
	from := e.Spec.Source.Catalog
	version := change.Version
	if version == nil && change.Resume != nil {
		version = change.Resume(e)
	}
	text("version", &from.Version, version)
	text("upgradeConstraintPolicy", (*string)(&from.UpgradeConstraintPolicy), change.Policy)
	if change.Channels != nil && !slices.Equal(from.Channels, *change.Channels) {
		say("channels", strings.Join(from.Channels, ", "), strings.Join(*change.Channels, ", "))
		from.Channels = *change.Channels
	}
	// When a rollout counts as failed, and what comes of that.
	if change.Rollback != nil && *change.Rollback != revision.RollsBack(e) {
		said = append(said, fmt.Sprintf("rollback on failure: %t -> %t", revision.RollsBack(e), *change.Rollback))
		if *change.Rollback {
			metav1.SetMetaDataAnnotation(&e.ObjectMeta, OnFailureKey, OnFailureRollback)
		} else {
			delete(e.Annotations, OnFailureKey)
		}
	}
	deadline := e.Spec.ProgressDeadlineMinutes
	switch {
	case change.ProgressDeadlineMinutes != nil:
		deadline = *change.ProgressDeadlineMinutes
	case change.Rollback != nil:
		deadline = revision.ProgressDeadlineMinutes(e)
	}
	if deadline != e.Spec.ProgressDeadlineMinutes {
		said = append(said, fmt.Sprintf("progressDeadlineMinutes: %d -> %d", e.Spec.ProgressDeadlineMinutes, deadline))
		e.Spec.ProgressDeadlineMinutes = deadline
	}
	if change.CRDSafety != nil {
		safety := ""
		if i := e.Spec.Install; i != nil && i.Preflight != nil && i.Preflight.CRDUpgradeSafety != nil {
			safety = string(i.Preflight.CRDUpgradeSafety.Enforcement)
		}
		if text("crdUpgradeSafety", &safety, change.CRDSafety); safety != "" {
			e.Spec.Install = &olmv1.ClusterExtensionInstallConfig{Preflight: &olmv1.PreflightConfig{CRDUpgradeSafety: &olmv1.CRDUpgradeSafetyPreflightConfig{Enforcement: olmv1.CRDUpgradeSafetyEnforcement(safety)}}}
		} else {
			e.Spec.Install = nil
		}
	}
	annotation := func(key, to string) {
		if before := e.Annotations[key]; before != to {
			say("annotation "+key, before, to)
			if e.Annotations == nil {
				e.Annotations = map[string]string{}
			}
			if e.Annotations[key] = to; to == "" {
				delete(e.Annotations, key)
			}
		}
	}
	if change.Acknowledge != nil {
		annotation(permissions.AcknowledgedKey, *change.Acknowledge)
	}
	if change.Image != nil {
		annotation(snapshot.BundleImageKey, *change.Image)
	}
	if change.Annotations != nil {
		changes := change.Annotations(e)
		for _, key := range slices.Sorted(maps.Keys(changes)) {
			annotation(key, changes[key])
		}
	}
	return said
}

// nothing is how a change reports an empty value.
const nothing = "(nothing)"

// SubscriptionChange is what is to be different about a Subscription.
type SubscriptionChange struct {
	Channel *string
	// Approve approves the InstallPlan that waits for it.
	Approve bool
	DryRun  bool
}

// ChangeSubscription changes what a Subscription asks for, and approves the plan that waits, if asked for. It returns what was done, a
// line each, and what is still to be approved. It begins again when another client, as their controllers do, writes one of them in between.
func ChangeSubscription(ctx context.Context, c client.Client, key client.ObjectKey, change SubscriptionChange) (said []string, waits string, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		said, waits, err = changeSubscription(ctx, c, key, change)
		return err
	})
	return said, waits, err
}

func changeSubscription(ctx context.Context, c client.Client, key client.ObjectKey, change SubscriptionChange) (said []string, waits string, err error) {
	sub := &v1alpha1.Subscription{}
	if err := c.Get(ctx, key, sub); err != nil {
		return nil, "", fmt.Errorf("read Subscription %s: %w", key, err)
	}
	var options []client.PatchOption
	if change.DryRun {
		options = append(options, client.DryRunAll)
	}
	options = append(options, fieldOwner)
	if change.Channel != nil && sub.Spec != nil && sub.Spec.Channel != *change.Channel {
		if change.Approve {
			return nil, "", errors.New("a plan that waits now is of the channel that was: change the channel, check the plan that comes, and approve that")
		}
		said = append(said, fmt.Sprintf("channel: %s -> %s", cmp.Or(sub.Spec.Channel, nothing), cmp.Or(*change.Channel, nothing)))
		if err := patch(ctx, c, sub.DeepCopy(), map[string]any{"channel": *change.Channel}, options); err != nil {
			return nil, "", fmt.Errorf("change the channel of Subscription %s: %w", key, err)
		}
		return said, "", nil // what waits now is of the channel that was
	}
	plan, err := waitingPlan(ctx, c, sub)
	if err != nil || plan == nil {
		return said, "", err
	}
	what := describe(plan)
	if !change.Approve {
		return said, what, nil
	}
	if err := patch(ctx, c, plan, map[string]any{"approved": true}, options); err != nil {
		return said, "", fmt.Errorf("approve InstallPlan %s/%s: %w%s", plan.Namespace, plan.Name, err, whoApproves(err))
	}
	return append(said, "approved "+what), "", nil
}

// patch changes fields of a spec.
func patch(ctx context.Context, c client.Client, o client.Object, spec map[string]any, options []client.PatchOption) error {
	text, err := json.Marshal(map[string]any{"spec": spec, "metadata": map[string]any{"resourceVersion": o.GetResourceVersion()}})
	if err != nil {
		return err
	}
	return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, text), options...)
}
