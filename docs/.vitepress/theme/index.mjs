// Without fonts: those of the system are used, and none is loaded.
import DefaultTheme from 'vitepress/theme-without-fonts'
import './style.css'

export default DefaultTheme
