package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// follow shows what happens in the namespace until it is as the story wants it.
func (d *Demo) follow(parent context.Context, done func(*scene) bool) error {
	ctx, cancel := context.WithTimeout(parent, d.options.Timeout)
	defer cancel()
	for !done(d.scene) {
		select {
		case <-parent.Done():
			return ErrInterrupted
		case <-ctx.Done():
			if parent.Err() != nil {
				return ErrInterrupted
			}
			return d.stuck(ctx)
		case err := <-d.manager:
			d.manager <- err
			return fmt.Errorf("the manager ended: %w", err)
		case event := <-d.events:
			if err := d.react(ctx, d.scene, event); err != nil {
				return err
			}
		}
	}
	return nil
}

// watch brings the events of the kinds that the story is about into one channel.
func (d *Demo) watch(ctx context.Context) (<-chan watch.Event, error) {
	merged := make(chan watch.Event)
	for _, list := range []client.ObjectList{
		&v1alpha1.CatalogSourceList{}, &v1alpha1.SubscriptionList{}, &v1alpha1.InstallPlanList{}, &v1alpha1.ClusterServiceVersionList{},
	} {
		w, err := d.client.Watch(ctx, list, client.InNamespace(namespace))
		if err != nil {
			return nil, fmt.Errorf("watch namespace %s: %w", namespace, err)
		}
		go func() {
			defer w.Stop()
			for event := range w.ResultChan() {
				select {
				case merged <- event:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return merged, nil
}

// react takes note of an event, tells what is new about it, and approves plans.
func (d *Demo) react(ctx context.Context, s *scene, event watch.Event) error {
	switch object := event.Object.(type) {
	case *v1alpha1.CatalogSource:
		state := ""
		if object.Status.GRPCConnectionState != nil {
			state = object.Status.GRPCConnectionState.LastObservedState
		}
		if s.catalog != state && state != "" {
			text := state
			if object.Status.Message != "" {
				text += ": " + object.Status.Message
			}
			d.show.Note("CatalogSource %s is %s", object.Name, text)
		}
		s.catalog = state
	case *v1alpha1.Subscription:
		s.subscriptions[object.Name] = object
	case *v1alpha1.InstallPlan:
		gone := event.Type == watch.Deleted
		phase := object.Status.Phase
		if gone || phase == "" || s.plans[object.Name] == phase {
			return nil
		}
		known := s.plans[object.Name] != ""
		s.plans[object.Name] = phase
		if !known {
			d.show.Note("InstallPlan %s: %d steps for %s", object.Name, len(object.Status.Plan), strings.Join(object.Spec.ClusterServiceVersionNames, ", "))
		}
		switch phase {
		case v1alpha1.InstallPlanPhaseRequiresApproval:
			approved := object.DeepCopy()
			approved.Spec.Approved = true
			if err := d.client.Patch(ctx, approved, client.MergeFrom(object)); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("approve InstallPlan %s: %w", object.Name, err)
			}
			d.show.Note("InstallPlan %s: approved", object.Name)
		case v1alpha1.InstallPlanPhaseComplete:
			d.show.Done("InstallPlan %s: complete", object.Name)
		case v1alpha1.InstallPlanPhaseFailed:
			d.show.Problem("InstallPlan %s: %s", object.Name, object.Status.Message)
		}
		return nil
	case *v1alpha1.ClusterServiceVersion:
		d.tellOperator(s, object, event.Type == watch.Deleted)
	}
	return nil
}

func (d *Demo) tellOperator(s *scene, csv *v1alpha1.ClusterServiceVersion, gone bool) {
	if gone {
		delete(s.operators, csv.Name)
		d.show.Note("%s: gone", csv.Name)
		return
	}
	old := s.operators[csv.Name]
	s.operators[csv.Name] = csv
	if old != nil && old.Status.Phase == csv.Status.Phase || csv.Status.Phase == "" {
		return
	}
	switch csv.Status.Phase {
	case v1alpha1.CSVPhaseSucceeded:
		d.succeeded[csv.Name] = time.Since(d.subscribed)
		d.show.Done("%s: %s", csv.Name, csv.Status.Phase)
	case v1alpha1.CSVPhaseFailed:
		d.show.Problem("%s: %s: %s", csv.Name, csv.Status.Phase, csv.Status.Message)
	default:
		d.show.Note("%s: %s: %s", csv.Name, csv.Status.Phase, csv.Status.Message)
	}
}

// stuck explains why the story does not go on.
func (d *Demo) stuck(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	report, err := ops.InspectNamespace(ctx, d.client, namespace)
	if err != nil {
		return fmt.Errorf("not done after %s, and its state cannot be read: %w", d.options.Timeout, err)
	}
	var tree strings.Builder
	if err := report.Write(&tree); err != nil {
		return err
	}
	return fmt.Errorf("not done after %s:\n%s", d.options.Timeout, tree.String())
}
