// Package constraint reads the values of olm.constraint: what one other operator of a namespace has to be like. It is shared by those
// who decide with constraints and those who check them before they are published, so that both refuse the same.
//
// It decides nothing and knows no catalog; a rule is asked about the properties that it is given. Start reading at Parse.
package constraint
