import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

// Assets are relative, so the scheduler can serve the console under any path prefix.
export default defineConfig({
  base: './',
  plugins: [react()],
  build: {
    target: 'es2020',
    chunkSizeWarningLimit: 1200,
    rollupOptions: {
      output: {
        manualChunks: (id) => {
          if (!id.includes('node_modules')) return undefined
          if (/node_modules\/(echarts|zrender)\//.test(id)) return 'charts'
          if (/node_modules\/yaml\//.test(id)) return 'yaml'
          if (/node_modules\/(react|react-dom|scheduler|react-router|react-router-dom|@remix-run|@tanstack|i18next|react-i18next)\//.test(id)) return 'react'
          return undefined
        },
      },
    },
  },
  server: { proxy: { '/api': { target: process.env.CRATER_API ?? 'http://127.0.0.1:18080', changeOrigin: true } } },
  test: { include: ['test/**/*.test.ts'], environment: 'node' },
})
