// A page that fails to draw says so instead of leaving a blank screen.
import { Component, type ReactNode } from 'react'
import { Failure } from '../ui/parts'

export class Boundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  state = { error: null as Error | null }
  static getDerivedStateFromError(error: Error) {
    return { error }
  }
  render() {
    return this.state.error ? <Failure error={this.state.error} retry={() => this.setState({ error: null })} /> : this.props.children
  }
}
