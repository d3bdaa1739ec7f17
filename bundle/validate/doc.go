// Package validate judges bundles before they are published: by the rules of installation, of the formats of a bundle, and by the
// optional validators that communities of authors ask for. Every rule is checked whatever the others find, and each finding says in
// which file and line it is, which rule it breaks, and how to mend it.
//
// It reads no registry and no cluster, and is not needed to install anything: installation relies on bundle.Validate alone. What a
// validator needs from outside, such as the platforms of images, comes in with Options.
//
// Start reading at Run in validators.go, which lists the validators too. rules.go has the rules, which the other files hold by subject.
package validate
