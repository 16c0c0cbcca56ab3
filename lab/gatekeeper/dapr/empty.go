// Takes the place of the client that Gatekeeper tests the driver with, which is compiled into it.
package dapr
