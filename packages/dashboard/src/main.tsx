import { render } from 'preact';
import { App } from './screens/app.tsx';

render(<App />, document.getElementById('app')!);
