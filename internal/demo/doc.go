// Package demo runs the main job from beginning to end on an embedded cluster and shows it as it happens: catalogs and bundles are
// published to a registry, a Subscription brings an operator and what that needs, a newer catalog upgrades both.
//
// It holds no behaviour of the system: everything it does, a user could do with kubectl. Start reading at Run (demo.go); the story
// of the samples is in samples.go, that of a directory of bundles in bundles.go, and follow.go tells what happens on the way.
package demo
