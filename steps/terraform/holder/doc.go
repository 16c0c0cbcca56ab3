// Package holder looks in the process table of this machine for the run that holds
// a lock, and for what a dead run left behind: providers (plugins) and the children
// of provisioners.
//
// A run belongs to a state when it works on a directory with the same backend and
// the same place in it, whatever the directory. A process belongs to a run by what
// it inherits and cannot easily shed: its process group, the environment of a tofu's
// child, files and pipes of the run, the directory that it works in, and the moment
// at which it began. Handrail and its own ancestors do not count; shells, editors
// and services that merely are there are named, and shut nothing.
//
// "Dead" is said only of a holder of this machine, where every process could be
// seen; elsewhere, in a container that hides others, or for want of rights it is
// unknown, with the reason. Nothing is sent to a process and no program runs. Of
// arguments and environments only what names the run is kept: values are left out.
package holder
