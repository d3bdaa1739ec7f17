// Package planview shows an InstallPlan to people and programs: its steps by the operators that they are for, where each comes from, how
// far it is, and why it is not done.
//
// It reads nothing but the plan that it is given, decides nothing, and prints plain text. Start reading at Of.
package planview
