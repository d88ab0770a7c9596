// Without fonts: those of the system are used, and none is loaded.
import DefaultTheme from 'vitepress/theme-without-fonts'
import SizeCalculator from './SizeCalculator.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('SizeCalculator', SizeCalculator)
  }
}
